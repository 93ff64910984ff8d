// Binds the admission chain to one request for the registry, with attributes that are created once per call.

import { type GroupVersionKind, type Json, type KubeObject, printGroupResource } from "../../apimachinery/object.ts"
import { schemaOf } from "../../apimachinery/schema/facts.ts"
import type { RequestContext } from "../request/context.ts"
import { decodeValue } from "../endpoints/body.ts"
import { expectedOf, type Expected } from "../endpoints/expected.ts"
import { withoutAdmission } from "../registry/generic/internal-write.ts"
import type { AdmitFunctions, DeleteRequest, ResourceDefinition } from "../registry/rest.ts"
import { type AdmissionAttributes, type AdmissionOperation, type DecodeOptions, Reinvocation } from "./chain.ts"

interface AdmitRequest {
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
  // The name of a request is that of the object before mutating admission, and before one is generated.
  let asked: string | undefined
  return {
    mutate(object, current) {
      asked = request.name || object.metadata?.name || ""
      return admission.mutate(ctx, new Attributes(ctx, definition, request, object, current))
    },
    async validate(object, current, deletion) {
      const precise = deletion === undefined || request.deletion !== undefined ? request : { ...request, deletion }
      const named = asked === undefined ? precise : { ...precise, name: asked }
      const given = new Attributes(ctx, definition, named, object, current, asked === "")
      // Deletes have no mutating phase in the registry's flow, but mutating plugins that call out must be notified of them.
      if (given.operation === "DELETE") await admission.mutate(ctx, given)
      await admission.validate(ctx, given)
    },
  }
}

/**
 * For an update that upstream makes by a request of its own, about which policies and webhooks are asked; in a dry run it makes none.
 * `behalf`: of onBehalf(), with the names of what is updated.
 */
export function admitOwnUpdate(
  behalf: RequestContext,
  definition: ResourceDefinition,
  dryRun: boolean,
): AdmitFunctions {
  if (dryRun) return withoutAdmission
  const { subresource, namespace, name } = behalf.info
  return admitFor(behalf, definition, { operation: "UPDATE", subresource, namespace, name, dryRun })
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
  readonly hasGeneratedName: boolean
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
    hasGeneratedName = false,
  ) {
    const { group, version, resource } = definition
    const { operation, subresource, namespace, name, dryRun } = request
    this.operation = operation === "UPDATE" && current === undefined ? "CREATE" : operation
    this.resource = { group, version, resource }
    this.subresource = subresource
    this.kind = kindOf(definition, subresource)
    this.namespace = namespace
    this.name = name !== "" ? name : (object?.metadata?.name ?? "")
    this.hasGeneratedName = hasGeneratedName
    this.object = object
    this.current = current
    this.dryRun = dryRun
    this.definition = definition
    this.#ctx = ctx
    this.#request = request
  }

  get options(): Json | undefined {
    return optionsOf(this.#ctx, this, this.#request)
  }

  decode(value: Json, options: DecodeOptions = {}): KubeObject {
    const { unknownFields = "Ignore", origin = "body", version, lacksDefaults = false, isVersioned = false } = options
    const own = version === undefined ? expectedBody(this.definition, this.kind) : expectedOf(version)
    const expected = { ...own, lacksDefaults, ...(isVersioned ? { convert: undefined } : {}) }
    const object = decodeValue(this.#ctx, value, expected, unknownFields, { origin })
    if (this.operation !== "CONNECT") return object
    const { metadata: _, ...asked } = object // the options of a connection have none
    return asked as KubeObject
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

/** Upstream deletes single objects of these resources, and no others, only with the uid that it has read. */
const deletedByUid: ReadonlySet<string> = new Set(["namespaces", "customresourcedefinitions.apiextensions.k8s.io"])

/** The options of the request in the form that webhooks and policies see. */
function optionsOf(
  { query }: RequestContext,
  { operation, resource, name, current }: Attributes,
  { dryRun, deletion }: AdmitRequest,
): Json | undefined {
  if (operation === "CONNECT") return undefined
  const asked = query.getAll("dryRun")
  const always = {
    apiVersion: "meta.k8s.io/v1",
    ...(dryRun ? { dryRun: asked.length === 0 ? ["All"] : asked } : {}),
  }
  if (operation === "DELETE") {
    const { dryRun: _dryRun, ...given } = deletion ?? { dryRun }
    const isByUid = name !== "" && deletedByUid.has(printGroupResource(resource))
    const preconditions = { uid: current?.metadata.uid ?? "", ...given.preconditions }
    return {
      kind: "DeleteOptions",
      ...always,
      ...(given as { [key: string]: Json }),
      ...(isByUid ? { preconditions } : {}),
    }
  }
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
