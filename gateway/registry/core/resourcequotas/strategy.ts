// ResourceQuotas. Admission updates the usage together with the object that uses the resources, and a controller corrects it.
// Source: k8s.io/kubernetes/pkg/{apis,registry}/core.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { asJson, type FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import { validateQualifiedName } from "../../../../apimachinery/names.ts"
import type { ResourceQuota } from "../../../../apimachinery/object.ts"
import { compareQuantities, parseQuantity } from "../../../../apimachinery/quantity.ts"
import { isGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"
import { ownValue } from "../../../../apimachinery/schema/json-object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutable, messages } from "../../validation/values.ts"
import { isStandardResource, validateAmount } from "../pod-spec/resources.ts"

const path = FieldPath.root("spec")
const scopes = [
  "Terminating",
  "NotTerminating",
  "BestEffort",
  "NotBestEffort",
  "PriorityClass",
  "CrossNamespacePodAffinity",
  "VolumeAttributesClass",
]

const strategy: Strategy<ResourceQuota> = {
  generation: false,

  default(quota) {
    quota.spec ??= {}
  },

  prepareForCreate(_ctx, quota) {
    quota.status = {}
  },

  validate: (_ctx, quota) => validateSpec(quota),

  validateUpdate(ctx, quota, current) {
    if (ctx.info.subresource === "status") {
      return (["hard", "used"] as const).flatMap((list) =>
        validateAmounts(FieldPath.root("status", list), quota.status?.[list]),
      )
    }
    const set = (of: ResourceQuota): string => [...new Set(of.spec?.scopes ?? [])].sort().join()
    const errors = validateSpec(quota)
    if (set(quota) !== set(current)) errors.push(invalidValue(path.child("scopes"), printedScopes(quota), immutable))
    return errors
  },

  warnings: (_ctx, quota, current) => (current === undefined ? amountWarnings(quota.spec?.hard) : []),
}

/** An empty list differs from none in what is printed of it. */
function printedScopes({ spec = {} }: ResourceQuota): unknown {
  return isGivenEmpty(spec, "scopes") ? [] : spec.scopes
}

export const resourceQuotas: KindExtension = { strategy }

const comparedResources = ["cpu", "memory", "storage", "ephemeral-storage"]

/** Warns if the quota of requests exceeds the quota of limits. */
function amountWarnings(hard: Readonly<Record<string, string>> | undefined): string[] {
  return comparedResources.flatMap((resource) => {
    const names =
      resource === "cpu" || resource === "memory" ? [`requests.${resource}`, resource] : [`requests.${resource}`]
    const name = names.find((each) => ownValue(hard, each) !== undefined)
    const limitName = `limits.${resource}`
    const [request, limit] = [name === undefined ? undefined : ownValue(hard, name), ownValue(hard, limitName)]
    if (request === undefined || limit === undefined) return []
    return compareQuantities(parseQuantity(request), parseQuantity(limit)) > 0
      ? [`ResourceQuota ${name} (${request}) should be less than ${limitName} (${limit})`]
      : []
  })
}

/** Scopes can be repeated, and each can be invalid for every limit, so approximately this many errors at most are reported. */
const maxScopeFaults = 1000

function validateSpec(quota: ResourceQuota): FieldError[] {
  const errors = validateAmounts(path.child("hard"), quota.spec?.hard)
  const names = quota.spec?.scopes ?? []
  const misappliedBy = misappliedTo(quota.spec?.hard)
  for (const scope of names) {
    if (errors.length > maxScopeFaults) break
    if (!scopes.includes(scope)) errors.push(invalidValue(path.child("scopes"), names, "unsupported scope"))
    for (const _ of misappliedBy(scope)) {
      errors.push(invalidValue(path.child("scopes"), names, misappliedScope))
    }
  }
  for (const _ of conflicting(names)) errors.push(invalidValue(path.child("scopes"), names, conflictingScopes))
  return [...errors, ...validateSelector(quota)]
}

type Requirement = NonNullable<
  NonNullable<NonNullable<ResourceQuota["spec"]>["scopeSelector"]>["matchExpressions"]
>[number]

/** Errors have the path of the list, without an index. */
function validateSelector({ spec = {} }: ResourceQuota): FieldError[] {
  const requirements = spec.scopeSelector?.matchExpressions ?? []
  const at = path.child("scopeSelector", "matchExpressions")
  const shown = {
    MatchExpressions: requirements.map(({ scopeName, operator, values }) => ({
      ScopeName: scopeName,
      Operator: operator,
      Values: values ?? null,
    })),
  }
  const misappliedBy = misappliedTo(spec.hard)
  const errors: FieldError[] = []
  for (const requirement of requirements) {
    const { scopeName } = requirement
    if (errors.length > maxScopeFaults) break
    if (!scopes.includes(scopeName))
      errors.push(invalidValue(at.child("scopeName"), scopeName ?? "", "unsupported scope"))
    for (const _ of misappliedBy(scopeName)) errors.push(invalidValue(at, shown, misappliedScope))
    errors.push(...validateRequirement(at, requirement))
  }
  const names = requirements.map(({ scopeName }) => scopeName)
  return [...errors, ...conflicting(names).map(() => invalidValue(at, spec.scopes, conflictingScopes))]
}

const existsOnly = ["Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity"]

function validateRequirement(at: FieldPath, { scopeName, operator, values = [] }: Requirement): FieldError[] {
  const errors: FieldError[] = []
  if (existsOnly.includes(scopeName) && operator !== "Exists") {
    const detail =
      "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
    errors.push(invalidValue(at.child("operator"), operator, detail))
  }
  if (operator === "In" || operator === "NotIn") {
    if (values.length > 0) return errors
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
    return [...errors, required(at.child("values"), detail)]
  }
  if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length === 0) return errors
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
    return [...errors, invalidValue(at.child("values"), values, detail)]
  }
  return [...errors, invalidValue(at.child("operator"), asJson(operator ?? ""), "not a valid selector operator")]
}

const misappliedScope = "unsupported scope applied to resource"
const conflictingScopes = "conflicting scopes"
const compute = ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"]
const ofPods = ["pods", ...compute]
/** The resources that each scope supports. Source: upstream's IsResourceQuotaScopeValidForResource. */
const measured: Readonly<Record<string, readonly string[]>> = dictionary({
  Terminating: ofPods,
  NotTerminating: ofPods,
  NotBestEffort: ofPods,
  PriorityClass: ofPods,
  CrossNamespacePodAffinity: ofPods,
  BestEffort: ["pods"],
  VolumeAttributesClass: ["persistentvolumeclaims", "requests.storage"],
})

/** Returns the limited resources that a scope does not support; cached, because a scope can be repeated many times. */
function misappliedTo(hard: object | undefined): (scope: string) => readonly string[] {
  const names = Object.keys(hard ?? {}).filter(isQuotaResource)
  const known = new Map<string, readonly string[]>()
  return (scope) => {
    let found = known.get(scope)
    if (found === undefined) {
      const named = measured[scope]
      found = named === undefined ? [] : names.filter((name) => !named.includes(name))
      known.set(scope, found)
    }
    return found
  }
}

function conflicting(names: readonly string[]): string[][] {
  const pairs = [
    ["BestEffort", "NotBestEffort"],
    ["Terminating", "NotTerminating"],
  ]
  return pairs.filter((pair) => pair.every((name) => names.includes(name)))
}

function isQuotaResource(name: string): boolean {
  return isStandardResource(name) && name !== "storage"
}

function validateAmounts(at: FieldPath, amounts: object | undefined): FieldError[] {
  return Object.entries(amounts ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, amount]) => {
      const place = at.key(name)
      const errors = messages(place, name, validateQualifiedName(name))
      const isBare = !name.includes("/")
      if (errors.length === 0 && isBare && !isStandardResource(name)) {
        errors.push(invalidValue(place, name, "must be a standard resource type or fully qualified"))
      }
      if (isBare && !isQuotaResource(name)) {
        errors.push(invalidValue(place, name, "must be a standard resource for quota"))
      }
      return [...errors, ...validateAmount(place, name, String(amount))]
    })
}
