// Binds the admission chain to one request for the registry, with attributes that are created once per call.

import type { GroupVersionKind, Json, KubeObject } from "../../apimachinery/object.ts"
import { schemaOf } from "../../apimachinery/schema/facts.ts"
import type { RequestContext } from "../request/context.ts"
import { decodeValue } from "../endpoints/body.ts"
import { expectedOf, type Expected } from "../endpoints/expected.ts"
import type { AdmitFunctions, DeleteRequest, ResourceDefinition } from "../registry/rest.ts"
import { type AdmissionAttributes, type AdmissionOperation, Reinvocation } from "./chain.ts"

export interface AdmitRequest {
  /** A create by PUT or apply counts as CREATE: this is the operation if there is no current object. */
  operation: AdmissionOperation
  subresource: string
  namespace: string
  name: string
  dryRun: boolean
  /** For collection deletes: the requested options, regardless of the grace periods of single objects. */
  deletion?: DeleteRequest
}

export function admitFor(ctx: RequestContext, definition: ResourceDefinition, request: AdmitRequest): AdmitFunctions {
  const { admission } = ctx.controlPlane
  return {
    mutate: (object, current) => admission.mutate(ctx, new Attributes(ctx, definition, request, object, current)),
    async validate(object, current, deletion) {
      const asked = deletion === undefined || request.deletion !== undefined ? request : { ...request, deletion }
      const given = new Attributes(ctx, definition, asked, object, current)
      // Deletes have no mutating phase in the registry's flow, but mutating plugins that call out must be notified of them.
      if (given.operation === "DELETE") await admission.mutate(ctx, given)
      await admission.validate(ctx, given)
    },
  }
}

/**
 * A class, because there are two instances per write: a literal with an accessor would create a new hidden class each time, and
 * hidden classes are long-lived.
 */
class Attributes implements AdmissionAttributes {
  readonly operation: AdmissionOperation
  readonly resource: AdmissionAttributes["resource"]
  readonly subresource: string
  readonly kind: GroupVersionKind
  readonly namespace: string
  readonly name: string
  readonly object: KubeObject | undefined
  readonly current: KubeObject | undefined
  readonly dryRun: boolean
  readonly definition: ResourceDefinition
  readonly reinvocation = new Reinvocation()
  readonly #ctx: RequestContext
  readonly #request: AdmitRequest

  constructor(
    ctx: RequestContext,
    definition: ResourceDefinition,
    request: AdmitRequest,
    object: KubeObject | undefined,
    current: KubeObject | undefined,
  ) {
    const { group, version, resource } = definition
    const { operation, subresource, namespace, name, dryRun } = request
    this.operation = operation === "UPDATE" && current === undefined ? "CREATE" : operation
    this.resource = { group, version, resource }
    this.subresource = subresource
    this.kind = kindOf(definition, subresource)
    this.namespace = namespace
    this.name = name !== "" ? name : (object?.metadata?.name ?? "")
    this.object = object
    this.current = current
    this.dryRun = dryRun
    this.definition = definition
    this.#ctx = ctx
    this.#request = request
  }

  get options(): Json | undefined {
    return optionsOf(this.#ctx, this.operation, this.#request)
  }

  decode(value: Json, unknownFields: "Ignore" | "Strict" = "Ignore"): KubeObject {
    return decodeValue(this.#ctx, value, expectedBody(this.definition, this.kind), unknownFields)
  }
}

/** Called before a connection (exec, proxy, …): `object` contains its options. */
export async function admitConnect(
  ctx: RequestContext,
  definition: ResourceDefinition,
  object: KubeObject,
): Promise<void> {
  const { subresource, namespace, name } = ctx.info
  const admit = admitFor(ctx, definition, { operation: "CONNECT", subresource, namespace, name, dryRun: false })
  await admit.mutate(object, undefined)
  await admit.validate(object, undefined)
}

function kindOf({ group, version, kind, subresources }: ResourceDefinition, subresource: string): GroupVersionKind {
  const found = subresource === "" ? undefined : subresources.find(({ name }) => name === subresource)
  return found === undefined
    ? { group, version, kind }
    : { group: found.group, version: found.version, kind: found.kind }
}

function expectedBody(definition: ResourceDefinition, { group, version, kind }: GroupVersionKind): Expected {
  if (kind === definition.kind && group === definition.group) return expectedOf(definition)
  const schema = schemaOf({ group, version, kind })
  if (schema === undefined) throw new Error(`no schema for ${group}/${version} ${kind}`)
  return { group, version, kind, schema }
}

/** The options of the request in the form that webhooks and policies see. */
function optionsOf(
  ctx: RequestContext,
  operation: AdmissionOperation,
  { dryRun, deletion }: AdmitRequest,
): Json | undefined {
  if (operation === "CONNECT") return undefined
  const apiVersion = "meta.k8s.io/v1"
  const always = { apiVersion, ...(dryRun ? { dryRun: ["All"] } : {}) }
  if (operation === "DELETE") {
    const { dryRun: _dryRun, ...given } = deletion ?? { dryRun }
    return { kind: "DeleteOptions", ...always, ...(given as { [key: string]: Json }) }
  }
  const { query } = ctx
  const text = (name: string): { [key: string]: Json } => {
    const value = query.get(name)
    return value === null || value === "" ? {} : { [name]: value }
  }
  return {
    // In admission, a patch is an update.
    kind: operation === "CREATE" ? "CreateOptions" : "UpdateOptions",
    ...always,
    ...text("fieldManager"),
    ...text("fieldValidation"),
  }
}
