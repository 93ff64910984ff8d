// Validates the webhooks of a configuration. Source: k8s.io/kubernetes/pkg/apis/admissionregistration/validation.

import { trimSpace } from "../../../../apimachinery/texts.ts"
import { repeats } from "../../../../apimachinery/repeats.ts"
import { checkingMatchConditions } from "../../../../apimachinery/cel/admission/check.ts"
import {
  duplicate,
  type FieldError,
  FieldPath,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain, validateQualifiedName } from "../../../../apimachinery/names.ts"
import type { Steps } from "../../../../apimachinery/steps.ts"
import type { NamedExpression } from "../../../../apimachinery/cel/admission/policy.ts"
import type { Webhook, WebhookRule } from "../../../admission/webhooks/configuration.ts"
import { validateLabelSelector } from "../../validation/selectors.ts"
import { messages, optionalOneOf } from "../../validation/values.ts"
import { validateReviewVersions, validateWebhookClient } from "../../validation/webhook-client.ts"

const maxSeconds = 30
const maxMatchConditions = 64
const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]
const sideEffects = ["None", "NoneOnDryRun"]

/** Unvalidated: required fields may be missing. */
type Given = Omit<Webhook, "name" | "clientConfig"> & Partial<Pick<Webhook, "name" | "clientConfig">>

/** A step validates one webhook, or compiles one of its match conditions. */
export function* validatingWebhooks(webhooks: readonly Given[], mutating: boolean): Steps<FieldError[]> {
  const errors: FieldError[] = []
  const repeated = repeats(webhooks.map(({ name }) => name))
  for (const [index, webhook] of webhooks.entries()) {
    const at = FieldPath.root("webhooks").index(index)
    const { name = "", admissionReviewVersions = [], matchConditions = [] } = webhook
    errors.push(
      ...validateWebhook(at, webhook, mutating),
      ...(yield* validatingMatchConditions(at.child("matchConditions"), matchConditions)),
      ...validateReviewVersions(
        at.child("admissionReviewVersions"),
        admissionReviewVersions,
        "must specify one of v1, v1beta1",
      ),
    )
    if (name !== "" && repeated.has(index)) errors.push(duplicate(at.child("name"), name))
    yield
  }
  return errors
}

function validateWebhook(at: FieldPath, webhook: Given, mutating: boolean): FieldError[] {
  const { timeoutSeconds: seconds, namespaceSelector, objectSelector } = webhook
  return [
    ...validateName(at.child("name"), webhook.name ?? ""),
    ...(webhook.rules ?? []).flatMap((rule, index) => validateRule(at.child("rules").index(index), rule)),
    ...optionalOneOf(at.child("failurePolicy"), webhook.failurePolicy, ["Fail", "Ignore"]),
    ...optionalOneOf(at.child("matchPolicy"), webhook.matchPolicy, ["Equivalent", "Exact"]),
    ...validateSideEffects(at.child("sideEffects"), webhook.sideEffects),
    ...(seconds !== undefined && (seconds < 1 || seconds > maxSeconds)
      ? [invalidValue(at.child("timeoutSeconds"), seconds, "the timeout value must be between 1 and 30 seconds")]
      : []),
    ...validateLabelSelector(at.child("namespaceSelector"), namespaceSelector),
    ...validateLabelSelector(at.child("objectSelector"), objectSelector),
    ...(mutating
      ? optionalOneOf(at.child("reinvocationPolicy"), webhook.reinvocationPolicy, ["IfNeeded", "Never"])
      : []),
    ...validateWebhookClient(at.child("clientConfig"), webhook.clientConfig ?? {}),
  ]
}

function validateName(at: FieldPath, name: string): FieldError[] {
  if (name === "") return [required(at)]
  const faults = validateDNS1123Subdomain(name)
  if (faults.length > 0) return [invalidValue(at, name, faults.join(","))]
  return name.split(".").length < 3
    ? [invalidValue(at, name, "should be a domain with at least three segments separated by dots")]
    : []
}

function validateSideEffects(at: FieldPath, value: string | undefined): FieldError[] {
  if (value === undefined) return [required(at, `must specify one of ${sideEffects.join(", ")}`)]
  return sideEffects.includes(value) ? [] : [notSupported(at, value, sideEffects)]
}

export function validateRule(at: FieldPath, rule: WebhookRule): FieldError[] {
  const { operations: given = [], apiGroups = [], apiVersions = [], resources = [] } = rule
  return [
    ...validateList(at.child("operations"), given, "operations"),
    ...given.flatMap((operation, index) =>
      operations.includes(operation) ? [] : [notSupported(at.child("operations").index(index), operation, operations)],
    ),
    ...validateList(at.child("apiGroups"), apiGroups, "API groups"),
    ...validateList(at.child("apiVersions"), apiVersions, "API versions"),
    ...apiVersions.flatMap((version, index) =>
      version === "" ? [required(at.child("apiVersions").index(index))] : [],
    ),
    ...validateResources(at.child("resources"), resources),
    ...optionalOneOf(at.child("scope"), rule.scope, ["*", "Cluster", "Namespaced"]),
  ]
}

function validateList(at: FieldPath, list: readonly string[], what: string): FieldError[] {
  if (list.length === 0) return [required(at)]
  return list.length > 1 && list.includes("*")
    ? [invalidValue(at, list, `if '*' is present, must not specify other ${what}`)]
    : []
}

function validateResources(at: FieldPath, resources: readonly string[]): FieldError[] {
  if (resources.length === 0) return [required(at)]
  const errors: FieldError[] = []
  const wholeResources = new Set<string>()
  const wholeSubresources = new Set<string>()
  let hasPlain = false
  for (const [index, pattern] of resources.entries()) {
    const place = at.index(index)
    const slash = pattern.indexOf("/")
    if (pattern === "") errors.push(required(place))
    else if (slash < 0) hasPlain = pattern !== "*"
    else {
      const [resource, subresource] = [pattern.slice(0, slash), pattern.slice(slash + 1)]
      const clash = (broader: string): FieldError =>
        invalidValue(place, pattern, `if '${broader}' is present, must not specify ${pattern}`)
      if (wholeResources.has(resource)) errors.push(clash(`${resource}/*`))
      if (wholeSubresources.has(subresource)) errors.push(clash(`*/${subresource}`))
      if (subresource === "*") wholeResources.add(resource)
      if (resource === "*") wholeSubresources.add(subresource)
    }
  }
  if (resources.length > 1 && resources.includes("*/*")) {
    errors.push(invalidValue(at, resources, "if '*/*' is present, must not specify other resources"))
  }
  if (resources.includes("*") && hasPlain) {
    const detail = "if '*' is present, must not specify other resources without subresources"
    errors.push(invalidValue(at, resources, detail))
  }
  return errors
}

/** `params`: the conditions may use params, as those of a policy with a paramKind. */
export function* validatingMatchConditions(
  at: FieldPath,
  conditions: readonly NamedExpression[],
  params = false,
): Steps<FieldError[]> {
  const errors = conditions.length > maxMatchConditions ? [tooMany(at, conditions.length, maxMatchConditions)] : []
  const repeated = repeats(conditions.map(({ name }) => name))
  const faults = Map.groupBy(yield* checkingMatchConditions(conditions, at, params), (fault) => fault.field)
  for (const [index, { name = "", expression = "" }] of conditions.entries()) {
    const place = at.index(index)
    const field = place.child("expression")
    if (trimSpace(expression) === "") errors.push(required(field))
    errors.push(...(faults.get(field.toString()) ?? []))
    if (name === "") errors.push(required(place.child("name")))
    else {
      errors.push(...messages(place.child("name"), name, validateQualifiedName(name)))
      if (repeated.has(index)) errors.push(duplicate(place.child("name"), name))
    }
  }
  return errors
}
