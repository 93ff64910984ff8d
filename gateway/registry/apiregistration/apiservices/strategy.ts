// APIServices. Those without a service are this server's own groups and always available; gateway/aggregation determines the
// availability of the others. Source: k8s.io/kube-aggregator/pkg/apis.

import {
  type FieldError,
  FieldPath,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import {
  validateDNS1035Label,
  validateDNS1123Subdomain,
  validatePathSegmentName,
} from "../../../../apimachinery/names.ts"
import { goQuote } from "../../../../apimachinery/go/quote.ts"
import { timestamp } from "../../../../apimachinery/object.ts"
import { type APIService, type APIServiceSpec, defaultPort, localCondition } from "../../../../client/api-services.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { validateOwnNames } from "../../validation/names.ts"
import { messages, portNumber } from "../../validation/values.ts"

const path = FieldPath.root("spec")
const maxGroupPriority = 20_000
const maxVersionPriority = 1000
const conditionStatuses = ["True", "False", "Unknown"]

const strategy: Strategy<APIService> = {
  generation: false,
  // The rules for the name depend on the spec, so validate checks them.
  nameRule: () => [],
  allowUnconditionalUpdate: false,

  default(service) {
    service.spec ??= {}
    if (service.spec.service) service.spec.service.port ??= defaultPort
  },

  prepareForCreate(_ctx, service) {
    service.status = service.spec?.service
      ? {}
      : { conditions: [{ type: "Available", ...localCondition, lastTransitionTime: timestamp() }] }
  },

  /** The first one with a service starts the aggregator. Changes of the others are followed as well, since some are not allowed. */
  async begin(ctx, service) {
    const { aggregator } = ctx.controlPlane
    await (service.spec?.service ? aggregator.remote() : aggregator.services())
    return undefined
  },

  validate: (_ctx, service) => validate(service),
  validateUpdate: (ctx, service) => (ctx.info.subresource === "status" ? validateStatus(service) : validate(service)),
}

export const apiServices: KindExtension = { strategy, plainStatus: true }

function validate(apiService: APIService): FieldError[] {
  const spec = apiService.spec ?? {}
  const { group = "", version = "", service, groupPriorityMinimum = 0, versionPriority = 0 } = spec
  const wanted = `${version}.${group}`
  const errors = validateOwnNames(apiService, (name) => {
    const faults = validatePathSegmentName(name)
    if (faults.length > 0 || name === wanted) return faults
    return [`must be \`spec.version+"."+spec.group\`: ${goQuote(wanted)}`]
  })
  const groupPath = path.child("group")
  if (group !== "") errors.push(...messages(groupPath, group, validateDNS1123Subdomain(group)))
  else if (version !== "v1") {
    errors.push(required(groupPath, "only v1 may have an empty group and it better be legacy kube"))
  }
  errors.push(
    ...messages(path.child("version"), version, validateDNS1035Label(version)),
    ...priority(path.child("groupPriorityMinimum"), groupPriorityMinimum, maxGroupPriority),
    ...priority(path.child("versionPriority"), versionPriority, maxVersionPriority),
  )
  return [...errors, ...(service ? validateRemote(spec, service) : validateLocal(spec))]
}

function priority(at: FieldPath, value: number, most: number): FieldError[] {
  return value > 0 && value <= most ? [] : [invalidValue(at, value, `must be positive and less than ${most}`)]
}

function validateLocal({ caBundle, insecureSkipTLSVerify }: APIServiceSpec): FieldError[] {
  const errors: FieldError[] = []
  if (caBundle) {
    const size = `${Buffer.from(caBundle, "base64").length} bytes`
    errors.push(invalidValue(path.child("caBundle"), size, "local APIServices may not have a caBundle"))
  }
  if (insecureSkipTLSVerify === true) {
    errors.push(
      invalidValue(path.child("insecureSkipTLSVerify"), true, "local APIServices may not have insecureSkipTLSVerify"),
    )
  }
  return errors
}

function validateRemote(
  { caBundle, insecureSkipTLSVerify }: APIServiceSpec,
  { name, namespace, port = 0 }: NonNullable<APIServiceSpec["service"]>,
): FieldError[] {
  const errors: FieldError[] = []
  if (!namespace) errors.push(required(path.child("service", "namespace")))
  if (!name) errors.push(required(path.child("service", "name")))
  const at = path.child("service", "port")
  for (const { detail } of portNumber(at, port)) errors.push(invalidValue(at, port, `port is not valid: ${detail}`))
  if (insecureSkipTLSVerify === true && caBundle) {
    errors.push(invalidValue(path.child("insecureSkipTLSVerify"), true, "may not be true if caBundle is present"))
  }
  return errors
}

function validateStatus({ status }: APIService): FieldError[] {
  return (status?.conditions ?? []).flatMap((condition, index) => {
    const value = condition.status ?? ""
    const at = FieldPath.root("status", "conditions").index(index).child("status")
    return conditionStatuses.includes(value) ? [] : [notSupported(at, value, conditionStatuses)]
  })
}
