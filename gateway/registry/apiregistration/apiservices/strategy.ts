// APIServices. Those without a service are this server's own groups and always available; whether others are is found out by
// gateway/aggregation. Source: k8s.io/kube-aggregator/pkg/apis.

import { type FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import { type KubeObject, timestamp } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { portNumber, requiredValue, within } from "../../validation/values.ts"

type APIService = KubeObject & {
  spec?: {
    group?: string
    version?: string
    groupPriorityMinimum?: number
    versionPriority?: number
    service?: { name?: string; namespace?: string; port?: number } | null
    insecureSkipTLSVerify?: boolean
    caBundle?: string
  }
  status?: object
}

const path = FieldPath.root("spec")

const strategy: Strategy<APIService> = {
  generation: false,
  allowUnconditionalUpdate: false,

  default(service) {
    service.spec ??= {}
    if (service.spec.service) service.spec.service.port ??= 443
  },

  prepareForCreate(_ctx, service) {
    const condition = { status: "True", reason: "Local", message: "Local APIServices are always available" }
    service.status = service.spec?.service
      ? {}
      : { conditions: [{ type: "Available", ...condition, lastTransitionTime: timestamp() }] }
  },

  /** From the first one on somebody looks after them. */
  async begin(ctx, service) {
    if (service.spec?.service) await ctx.controlPlane.aggregator.remote()
    return undefined
  },

  validate: (_ctx, service) => validate(service),
  validateUpdate: (ctx, service) => (ctx.info.subresource === "status" ? [] : validate(service)),
}

export const apiServices: KindExtension = { strategy }

function validate({ metadata, spec = {} }: APIService): FieldError[] {
  const errors: FieldError[] = []
  const wanted = `${spec.version ?? ""}.${spec.group ?? ""}`
  if (metadata.name !== wanted) {
    errors.push(
      invalidValue(
        FieldPath.root("metadata", "name"),
        metadata.name,
        `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`,
      ),
    )
  }
  errors.push(...requiredValue(path.child("version"), spec.version))
  errors.push(...within(path.child("groupPriorityMinimum"), spec.groupPriorityMinimum ?? 0, 1, 20_000))
  errors.push(...within(path.child("versionPriority"), spec.versionPriority ?? 0, 1, 1000))
  if (!spec.service) {
    if (spec.caBundle)
      errors.push(invalidValue(path.child("caBundle"), spec.caBundle, "local APIServices may not have a caBundle"))
    if (spec.insecureSkipTLSVerify === true) {
      errors.push(
        invalidValue(path.child("insecureSkipTLSVerify"), true, "local APIServices may not have insecureSkipTLSVerify"),
      )
    }
    return errors
  }
  if (!spec.service.namespace) errors.push(required(path.child("service", "namespace")))
  if (!spec.service.name) errors.push(required(path.child("service", "name")))
  return [...errors, ...portNumber(path.child("service", "port"), spec.service.port ?? 0)]
}
