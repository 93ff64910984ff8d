// Webhook configurations: stored and validated, not called (admission warns). Source:
// k8s.io/kubernetes/pkg/apis/admissionregistration.

import {
  type FieldError,
  FieldPath,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateQualifiedName } from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { type LabelSelector, validateLabelSelector } from "../../validation/selectors.ts"
import { messages, optionalOneOf } from "../../validation/values.ts"

interface Webhook {
  name?: string
  clientConfig?: { url?: string; service?: { name?: string; namespace?: string; port?: number } }
  rules?: {
    operations?: string[]
    apiGroups?: string[]
    apiVersions?: string[]
    resources?: string[]
    scope?: string
  }[]
  failurePolicy?: string
  matchPolicy?: string
  namespaceSelector?: LabelSelector
  objectSelector?: LabelSelector
  sideEffects?: string
  timeoutSeconds?: number
  admissionReviewVersions?: string[]
  reinvocationPolicy?: string
}
type Configuration = KubeObject & { webhooks?: Webhook[] }

const maxSeconds = 30
const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]

function strategyOf(mutating: boolean): Strategy<Configuration> {
  return {
    generation: true,
    allowUnconditionalUpdate: false,
    default(configuration) {
      for (const webhook of configuration.webhooks ?? []) defaultWebhook(webhook, mutating)
    },
    validate: (_ctx, configuration) => validate(configuration),
    validateUpdate: (_ctx, configuration) => validate(configuration),
    specChanged: (configuration, current) => !semanticEqual(configuration.webhooks, current.webhooks),
  }
}

export const mutatingWebhookConfigurations: KindExtension = { strategy: strategyOf(true) }
export const validatingWebhookConfigurations: KindExtension = { strategy: strategyOf(false) }

function defaultWebhook(webhook: Webhook, mutating: boolean): void {
  webhook.failurePolicy ??= "Fail"
  webhook.matchPolicy ??= "Equivalent"
  webhook.namespaceSelector ??= {}
  webhook.objectSelector ??= {}
  webhook.timeoutSeconds ??= 10
  if (mutating) webhook.reinvocationPolicy ??= "Never"
  for (const rule of webhook.rules ?? []) rule.scope ??= "*"
  const service = webhook.clientConfig?.service
  if (service !== undefined) service.port ??= 443
}

function validate(configuration: Configuration): FieldError[] {
  return (configuration.webhooks ?? []).flatMap((webhook, index) =>
    validateWebhook(FieldPath.root("webhooks").index(index), webhook),
  )
}

function validateWebhook(at: FieldPath, webhook: Webhook): FieldError[] {
  const name = webhook.name ?? ""
  const errors = messages(at.child("name"), name, validateQualifiedName(name))
  if (name.split(".").length < 3) {
    errors.push(
      invalidValue(at.child("name"), name, "should be a domain with at least three segments separated by dots"),
    )
  }
  for (const [index, rule] of (webhook.rules ?? []).entries()) {
    const place = at.child("rules").index(index)
    if ((rule.operations ?? []).length === 0) errors.push(required(place.child("operations")))
    for (const [position, operation] of (rule.operations ?? []).entries()) {
      if (!operations.includes(operation)) {
        errors.push(notSupported(place.child("operations").index(position), operation, operations))
      }
    }
    for (const field of ["apiGroups", "apiVersions", "resources"] as const) {
      if ((rule[field] ?? []).length === 0) errors.push(required(place.child(field)))
    }
    errors.push(...optionalOneOf(place.child("scope"), rule.scope, ["*", "Cluster", "Namespaced"]))
  }
  errors.push(...optionalOneOf(at.child("failurePolicy"), webhook.failurePolicy, ["Fail", "Ignore"]))
  errors.push(...optionalOneOf(at.child("matchPolicy"), webhook.matchPolicy, ["Equivalent", "Exact"]))
  errors.push(...validateEffects(at, webhook))
  errors.push(...validateLabelSelector(at.child("namespaceSelector"), webhook.namespaceSelector))
  errors.push(...validateLabelSelector(at.child("objectSelector"), webhook.objectSelector))
  errors.push(...validateClient(at.child("clientConfig"), webhook), ...validateReviewVersions(at, webhook))
  return errors
}

function validateEffects(at: FieldPath, webhook: Webhook): FieldError[] {
  const errors: FieldError[] = []
  const effects = ["None", "NoneOnDryRun"]
  if (webhook.sideEffects === undefined)
    errors.push(required(at.child("sideEffects"), "must specify one of None, NoneOnDryRun"))
  else if (!effects.includes(webhook.sideEffects)) {
    errors.push(notSupported(at.child("sideEffects"), webhook.sideEffects, effects))
  }
  const seconds = webhook.timeoutSeconds
  if (seconds !== undefined && (seconds < 1 || seconds > maxSeconds)) {
    errors.push(invalidValue(at.child("timeoutSeconds"), seconds, "the timeout value must be between 1 and 30 seconds"))
  }
  return errors
}

function validateReviewVersions(at: FieldPath, webhook: Webhook): FieldError[] {
  const errors: FieldError[] = []
  const versions = webhook.admissionReviewVersions ?? []
  const place = at.child("admissionReviewVersions")
  if (versions.length === 0) errors.push(required(place, "must specify one of v1, v1beta1"))
  else if (!versions.includes("v1") && !versions.includes("v1beta1")) {
    errors.push(invalidValue(place, versions, "must include at least one of v1, v1beta1"))
  }
  return errors
}

function validateClient(at: FieldPath, { clientConfig }: Webhook): FieldError[] {
  const { url, service } = clientConfig ?? {}
  if ((url === undefined) === (service === undefined)) {
    return [required(at, "exactly one of url or service is required")]
  }
  if (url !== undefined) {
    return url.startsWith("https://")
      ? []
      : [invalidValue(at.child("url"), url, "'https' is the only allowed URL scheme")]
  }
  const errors: FieldError[] = []
  if (!service?.name) errors.push(required(at.child("service", "name"), "service name is required"))
  if (!service?.namespace) errors.push(required(at.child("service", "namespace"), "service namespace is required"))
  return errors
}
