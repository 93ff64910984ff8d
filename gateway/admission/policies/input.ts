// The variables of policies and match conditions: the request, its objects in the matched version, the namespace, an authorizer.
// Source: k8s.io/apiserver/pkg/admission/plugin/cel/{condition,activation}.go.

import {
  AuthorizationAnswers,
  authorizerValue,
  resourceCheckValue,
} from "../../../apimachinery/cel/functions/authorizer.ts"
import { jsonValue } from "../../../apimachinery/cel/json-values.ts"
import type { Value } from "../../../apimachinery/cel/values.ts"
import type { Json, KubeObject, Namespace } from "../../../apimachinery/object.ts"
import { notFound, StatusError } from "../../../apimachinery/status.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes } from "../chain.ts"
import { namespaces } from "../../../client/resources.ts"
import { find } from "../plugins/lookup.ts"
import { namespaceOf } from "../webhooks/match.ts"
import type { Shown } from "../webhooks/review.ts"
import { isOwnKind, shownObject } from "../webhooks/versions.ts"

/** The variables through which expressions ask for rights. */
export const authorizerNames = ["authorizer", "authorizer.requestResource"] as const

/** The input of all policies for one request. Expensive parts are created on first use and cached. */
export class PolicyInput {
  readonly ctx: RequestContext
  readonly attributes: AdmissionAttributes
  readonly answers = new AuthorizationAnswers()
  /** The object, until it is modified, and the stored one. */
  readonly #objects = new Map<ResourceDefinition, Promise<KubeObject | undefined>>()
  readonly #stored = new Map<ResourceDefinition, Promise<Value>>()
  readonly #inputs = new Map<ResourceDefinition, Promise<ReadonlyMap<string, Value>>>()
  #namespace: Promise<Value> | undefined

  /** `shown`: the objects, if they are known in the version that is asked for. */
  constructor(ctx: RequestContext, attributes: AdmissionAttributes, shown?: Shown) {
    this.ctx = ctx
    this.attributes = attributes
    if (shown === undefined) return
    const { definition, object, current } = shown
    this.#objects.set(definition, Promise.resolve(object))
    this.#stored.set(definition, Promise.resolve(jsonValue(current as Json | undefined)))
  }

  /** `definition`: that of the matched version. */
  variables(definition: ResourceDefinition): Promise<ReadonlyMap<string, Value>> {
    return known(this.#inputs, definition, () => this.#variables(definition))
  }

  /** For match conditions: they see the resource of the request, not the matched one, and no namespace. */
  async conditionVariables(definition: ResourceDefinition): Promise<ReadonlyMap<string, Value>> {
    const request = requestJson(this.ctx, this.attributes, definition, this.attributes.definition)
    return new Map([...(await this.variables(definition)), ["request", jsonValue(request)], ["namespaceObject", null]])
  }

  /** Why a webhook does not convert the objects to the matched version, which upstream takes for a fault of the policy. */
  async conversionFault(definition: ResourceDefinition): Promise<string | undefined> {
    try {
      await this.#oldValue(definition) // first, as its fault is that which is told
      await this.shown(definition)
      return undefined
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      return error.message
    }
  }

  /** The object as expressions see it, which must not be modified. Undefined if there is none. */
  shown(definition: ResourceDefinition): Promise<KubeObject | undefined> {
    return known(this.#objects, definition, () => this.#show(this.attributes.object, definition))
  }

  /** Must be called after the object was modified. */
  forget(): void {
    this.#objects.clear()
    this.#inputs.clear()
  }

  #oldValue(definition: ResourceDefinition): Promise<Value> {
    return known(this.#stored, definition, async () =>
      jsonValue((await this.#show(this.attributes.current, definition)) as Json | undefined),
    )
  }

  async #show(object: KubeObject | undefined, definition: ResourceDefinition): Promise<KubeObject | undefined> {
    return object && shownObject(this.ctx, object, this.attributes, definition)
  }

  async #variables(definition: ResourceDefinition): Promise<ReadonlyMap<string, Value>> {
    const { attributes, answers } = this
    const { resource, subresource, name } = attributes
    const namespace = namespaceOf(attributes)
    const oldObject = await this.#oldValue(definition)
    const object = jsonValue((await this.shown(definition)) as Json | undefined)
    return new Map<string, Value>([
      ["object", object],
      ["oldObject", oldObject],
      ["request", jsonValue(requestJson(this.ctx, attributes, definition, definition))],
      ["namespaceObject", await (this.#namespace ??= this.#namespaceObject())],
      [authorizerNames[0], authorizerValue(answers)],
      [
        authorizerNames[1],
        resourceCheckValue(answers, {
          group: resource.group,
          resource: resource.resource,
          subresource,
          namespace,
          name,
        }),
      ],
    ])
  }

  async #namespaceObject(): Promise<Value> {
    const { namespace, kind } = this.attributes
    if (namespace === "" || (kind.group === "" && kind.kind === "Namespace")) return null
    const found = await find<Namespace>(this.ctx, namespaces, "", namespace)
    if (found === undefined) throw notFound({ group: "", resource: "namespaces" }, namespace)
    const { ownerReferences: _owners, managedFields: _managers, selfLink: _link, ...metadata } = found.metadata
    return jsonValue({ metadata, spec: found.spec ?? {}, status: found.status ?? {} } as unknown as Json)
  }
}

function known<T>(
  made: Map<ResourceDefinition, Promise<T>>,
  definition: ResourceDefinition,
  make: () => Promise<T>,
): Promise<T> {
  const before = made.get(definition)
  if (before !== undefined) return before
  const now = make()
  made.set(definition, now)
  return now
}

/** AdmissionRequest without empty fields. */
function requestJson(
  ctx: RequestContext,
  attributes: AdmissionAttributes,
  definition: ResourceDefinition,
  shownResource: ResourceDefinition,
): Json {
  const { resource, subresource, kind, name, operation, dryRun, options } = attributes
  const { group, version } = definition
  const { user } = ctx
  const some = (field: string, value: string): { [key: string]: Json } => (value === "" ? {} : { [field]: value })
  return {
    uid: "",
    kind: isOwnKind(attributes) ? { group, version, kind: definition.kind } : { ...kind },
    resource: { group: shownResource.group, version: shownResource.version, resource: shownResource.resource },
    ...some("subResource", subresource),
    requestKind: { ...kind },
    requestResource: { group: resource.group, version: resource.version, resource: resource.resource },
    ...some("requestSubResource", subresource),
    ...some("name", name),
    ...some("namespace", namespaceOf(attributes)),
    operation,
    userInfo: {
      ...some("username", user.name),
      ...some("uid", user.uid ?? ""),
      ...(user.groups.length === 0 ? {} : { groups: [...user.groups] }),
      ...(Object.keys(user.extra).length === 0
        ? {}
        : { extra: Object.fromEntries(Object.entries(user.extra).map(([key, values]) => [key, [...values]])) }),
    },
    object: null,
    oldObject: null,
    dryRun,
    options: options ?? null,
  }
}
