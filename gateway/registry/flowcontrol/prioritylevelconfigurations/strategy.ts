// PriorityLevelConfigurations: flow schemas refer to them, and responses name the level of a request; the limits of requests are
// per tenant and do not depend on them. Source: k8s.io/kubernetes/pkg/apis/flowcontrol.

import type * as models from "@kubernetes/client-node"
import {
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import type { Wire } from "../../../../apimachinery/object.ts"
import { ownValue } from "../../../../apimachinery/schema/json-object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { within } from "../../validation/values.ts"
import { validateMandatory } from "../mandatory.ts"
import { type Conditioned, validateConditions } from "../conditions.ts"

type Spec = Partial<Wire<models.V1PriorityLevelConfigurationSpec>>
type Limited = NonNullable<Spec["limited"]>
type Queuing = Partial<NonNullable<NonNullable<Limited["limitResponse"]>["queuing"]>>
type Level = Conditioned & { spec?: Spec }

const path = FieldPath.root("spec")
/** Expresses in an older version what this version expresses by a field. */
const oldAnnotation = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
const maxQueues = 10_000_000
const maxHashBits = 60
const notNegative = "must be a non-negative integer"

const strategy: Strategy<Level> = {
  default(level) {
    const { exempt, limited } = (level.spec ??= {})
    if (exempt !== undefined) {
      exempt.nominalConcurrencyShares ??= 0
      exempt.lendablePercent ??= 0
    }
    if (limited === undefined) return
    limited.nominalConcurrencyShares ??= 30
    limited.lendablePercent ??= 0
    const queuing = limited.limitResponse?.queuing
    if (queuing === undefined) return
    queuing.handSize = queuing.handSize || 8
    queuing.queues = queuing.queues || 64
    queuing.queueLengthLimit = queuing.queueLengthLimit || 50
  },
  validate: (_ctx, level) => validate(level),
  validateUpdate: (ctx, level) => (ctx.info.subresource === "status" ? validateConditions(level) : validate(level)),
}

export const priorityLevelConfigurations: KindExtension = { strategy }

function validate(level: Level): FieldError[] {
  const spec = level.spec ?? {}
  const type = spec.type ?? ""
  const at = path.child("type")
  const errors: FieldError[] = []
  if (ownValue(level.metadata.annotations, oldAnnotation) !== undefined) {
    errors.push(forbiddenField(FieldPath.root("metadata", "annotations"), `annotation '${oldAnnotation}' is forbidden`))
  }
  if ((level.metadata.name === "exempt") !== (type === "Exempt")) {
    errors.push(invalidValue(at, type, "must be 'Exempt' if and only if `name` is 'exempt'"))
  }
  return [...errors, ...validateByType(spec, type), ...validateFixed(level, spec), ...validateConditions(level)]
}

/** In the exempt level, the lendable part may be changed. */
function validateFixed(level: Level, spec: Spec): FieldError[] {
  const { exempt: _, ...rest } = spec
  if (level.metadata.name === "exempt") return validateMandatory(level, rest, "exempt")
  return level.metadata.name === "catch-all" ? validateMandatory(level, spec) : []
}

function validateByType(spec: Spec, type: string): FieldError[] {
  const { exempt, limited } = spec
  switch (type) {
    case "Exempt":
      return [
        ...(limited === undefined
          ? []
          : [forbiddenField(path.child("limited"), "must be nil if the type is not Limited")]),
        ...(exempt === undefined ? [] : validateShares(path.child("exempt"), exempt)),
      ]
    case "Limited":
      return [
        ...(exempt === undefined ? [] : [forbiddenField(path.child("exempt"), "must be nil if the type is Limited")]),
        ...(limited === undefined
          ? [required(path.child("limited"), "must not be empty when type is Limited")]
          : validateLimited(path.child("limited"), limited)),
      ]
    case "":
      return [required(path.child("type"))]
    default:
      return [notSupported(path.child("type"), type, ["Exempt", "Limited"])]
  }
}

interface Shares {
  nominalConcurrencyShares?: number
  lendablePercent?: number
}

function validateShares(
  at: FieldPath,
  { nominalConcurrencyShares: shares = 0, lendablePercent }: Shares,
): FieldError[] {
  const errors = shares < 0 ? [invalidValue(at.child("nominalConcurrencyShares"), shares, notNegative)] : []
  return [...errors, ...within(at.child("lendablePercent"), lendablePercent, 0, 100)]
}

function validateLimited(at: FieldPath, limited: Limited): FieldError[] {
  const { nominalConcurrencyShares: shares = 0, lendablePercent, borrowingLimitPercent: borrowed } = limited
  const errors = shares < 0 ? [invalidValue(at.child("nominalConcurrencyShares"), shares, notNegative)] : []
  errors.push(...validateResponse(at.child("limitResponse"), limited.limitResponse ?? {}))
  errors.push(...within(at.child("lendablePercent"), lendablePercent, 0, 100))
  if (borrowed !== undefined && borrowed < 0) {
    errors.push(invalidValue(at.child("borrowingLimitPercent"), borrowed, `if specified, ${notNegative}`))
  }
  return errors
}

function validateResponse(at: FieldPath, { type = "", queuing }: { type?: string; queuing?: Queuing }): FieldError[] {
  const place = at.child("queuing")
  switch (type) {
    case "Reject":
      return queuing === undefined
        ? []
        : [forbiddenField(place, "must be nil if limited.limitResponse.type is not Limited")]
    case "Queue":
      return queuing === undefined
        ? [required(place, "must not be empty if limited.limitResponse.type is Limited")]
        : validateQueuing(place, queuing)
    case "":
      return [required(at.child("type"))]
    default:
      return [notSupported(at.child("type"), type, ["Queue", "Reject"])]
  }
}

function validateQueuing(at: FieldPath, queuing: Queuing): FieldError[] {
  const { queueLengthLimit: length = 0, queues = 0, handSize = 0 } = queuing
  const errors: FieldError[] = []
  if (length <= 0) errors.push(invalidValue(at.child("queueLengthLimit"), length, "must be positive"))
  if (queues <= 0) errors.push(invalidValue(at.child("queues"), queues, "must be positive"))
  else if (queues > maxQueues) {
    errors.push(invalidValue(at.child("queues"), queues, `must not be greater than ${maxQueues}`))
  }
  const hand = at.child("handSize")
  if (handSize <= 0) return [...errors, invalidValue(hand, handSize, "must be positive")]
  if (handSize > queues) {
    return [...errors, invalidValue(hand, handSize, `should not be greater than queues (${queues})`)]
  }
  if (requiredBits(queues, handSize) <= maxHashBits) return errors
  const why = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxHashBits}`
  return [...errors, invalidValue(hand, handSize, why)]
}

/**
 * The number of hash bits for dealing a hand: each card is drawn from the remaining ones. It is not counted beyond the limit: a hand may
 * have two billion cards.
 */
function requiredBits(queues: number, handSize: number): number {
  let bits = 0
  for (let left = queues; left > queues - handSize && bits <= maxHashBits; left--) bits += Math.log2(left)
  return Math.ceil(bits)
}
