// The admission chain as the registry calls it: bound to one request, with attributes made once per call.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { RequestContext } from "../request/context.ts"
import type { AdmitFunctions, ResourceDefinition } from "../registry/rest.ts"
import type { AdmissionAttributes, AdmissionOperation } from "./chain.ts"

export interface AdmitRequest {
  /** A create by PUT or apply is a CREATE: `operation` is what it is when there is no current object. */
  operation: AdmissionOperation
  subresource: string
  namespace: string
  name: string
  dryRun: boolean
}

export function admitFor(ctx: RequestContext, definition: ResourceDefinition, request: AdmitRequest): AdmitFunctions {
  const { group, version, resource, kind } = definition
  const attributes = (object: KubeObject | undefined, current: KubeObject | undefined): AdmissionAttributes => ({
    operation: request.operation === "UPDATE" && current === undefined ? "CREATE" : request.operation,
    resource: { group, version, resource },
    subresource: request.subresource,
    kind: { group, version, kind },
    namespace: request.namespace,
    name: request.name !== "" ? request.name : (object?.metadata.name ?? ""),
    object,
    current,
    dryRun: request.dryRun,
  })
  const { admission } = ctx.controlPlane
  return {
    mutate: (object, current) => admission.mutate(ctx, attributes(object, current)),
    validate: (object, current) => admission.validate(ctx, attributes(object, current)),
  }
}
