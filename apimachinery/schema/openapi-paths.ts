// The operations of one resource as OpenAPI describes them: what kubectl looks for is the action, the kind and the query
// parameters (fieldValidation, dryRun).

import type { Json } from "../object.ts"
import type { JsonObject } from "./json-object.ts"
import type { Dialect } from "./openapi-schemas.ts"

/** The part of a resource's definition that is published; gateway's ResourceDefinition has it. */
export interface PublishedResource {
  group: string
  version: string
  resource: string
  kind: string
  namespaced: boolean
  verbs: readonly string[]
}

export interface PublishedKind {
  group: string
  version: string
  kind: string
}

/** What stands in an operation's body and answer. */
export interface Shapes {
  /** Undefined: text or a stream. */
  object: JsonObject | undefined
  list: JsonObject | undefined
  status: JsonObject
  deleteOptions: JsonObject
  patch: JsonObject
  watchEvent: JsonObject
}

type Parameter = readonly [name: string, type: "string" | "boolean" | "integer"]

const writeParameters: readonly Parameter[] = [
  ["dryRun", "string"],
  ["fieldManager", "string"],
  ["fieldValidation", "string"],
]
const selectParameters: readonly Parameter[] = [
  ["continue", "string"],
  ["fieldSelector", "string"],
  ["labelSelector", "string"],
  ["limit", "integer"],
  ["resourceVersion", "string"],
  ["resourceVersionMatch", "string"],
  ["sendInitialEvents", "boolean"],
  ["timeoutSeconds", "integer"],
]
const watchParameters: readonly Parameter[] = [
  ["allowWatchBookmarks", "boolean"],
  ...selectParameters,
  ["watch", "boolean"],
]
const deleteParameters: readonly Parameter[] = [
  ["dryRun", "string"],
  ["gracePeriodSeconds", "integer"],
  ["orphanDependents", "boolean"],
  ["propagationPolicy", "string"],
]
const logParameters: readonly Parameter[] = [
  ["container", "string"],
  ["follow", "boolean"],
  ["limitBytes", "integer"],
  ["previous", "boolean"],
  ["sinceSeconds", "integer"],
  ["stream", "string"],
  ["tailLines", "integer"],
  ["timestamps", "boolean"],
]

const patchTypes = [
  "application/apply-patch+yaml",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
]

function parameter(dialect: Dialect, [name, type]: Parameter, where: "query" | "path" = "query"): JsonObject {
  const required = where === "path" ? { required: true } : {}
  return dialect === "v3"
    ? { in: where, name, ...required, schema: { type, uniqueItems: true } }
    : { in: where, name, ...required, type, uniqueItems: true }
}

interface Operation {
  id: string
  action: string
  kind: PublishedKind
  tag: string
  parameters?: readonly Parameter[]
  body?: { schema: JsonObject; required: boolean; types?: readonly string[] }
  /** By status code; undefined is text. */
  answers: Readonly<Record<string, JsonObject | undefined>>
  produces: readonly string[]
}

function operation(dialect: Dialect, one: Operation): JsonObject {
  const parameters: Json[] = (one.parameters ?? []).map((name) => parameter(dialect, name))
  const responses: JsonObject = {}
  for (const [code, answer] of Object.entries(one.answers)) {
    const schema: JsonObject = answer ?? { type: "string" }
    const content = Object.fromEntries(one.produces.map((type) => [type, { schema }]))
    responses[code] = dialect === "v3" ? { description: "OK", content } : { description: "OK", schema }
  }
  responses["401"] = { description: "Unauthorized" }
  const common: JsonObject = {
    tags: [one.tag],
    operationId: one.id,
    "x-kubernetes-action": one.action,
    "x-kubernetes-group-version-kind": { group: one.kind.group, kind: one.kind.kind, version: one.kind.version },
  }
  const types = one.body?.types ?? ["*/*"]
  if (dialect === "v3") {
    const content = Object.fromEntries(types.map((type) => [type, { schema: one.body?.schema ?? {} }]))
    return {
      ...common,
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(one.body === undefined ? {} : { requestBody: { content, ...(one.body.required ? { required: true } : {}) } }),
      responses,
    }
  }
  if (one.body !== undefined) {
    const required = one.body.required ? { required: true } : {}
    parameters.unshift({ in: "body", name: "body", ...required, schema: one.body.schema })
  }
  return {
    ...common,
    consumes: [...types],
    produces: [...one.produces],
    schemes: ["https"],
    ...(parameters.length === 0 ? {} : { parameters }),
    responses,
  }
}

/** "apps/v1" → "AppsV1"; "rbac.authorization.k8s.io/v1" → "RbacAuthorizationV1". */
function camelGroupVersion({ group, version }: { group: string; version: string }): string {
  const name = group === "" ? "core" : group.replace(/\.k8s\.io$/, "")
  return [...name.split(/[^A-Za-z0-9]+/), version].map(capital).join("")
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}

export function tagOf({ group, version }: { group: string; version: string }): string {
  const words = (group === "" ? "core" : group.replace(/\.k8s\.io$/, "")).split(/[^A-Za-z0-9]+/)
  return `${[words[0] ?? "", ...words.slice(1).map(capital)].join("")}_${version}`
}

export interface PathsOptions {
  dialect: Dialect
  resource: PublishedResource
  subresource?: string
  /** Of the body; the resource's own, or the subresource's. */
  kind: PublishedKind
  verbs: readonly string[]
  shapes: Shapes
  produces: readonly string[]
}

/** Path → its operations, of a resource or one of its subresources. */
export function pathsOf(options: PathsOptions): JsonObject {
  const { resource, subresource, dialect } = options
  const prefix = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
  const scope = resource.namespaced ? `${prefix}/namespaces/{namespace}` : prefix
  const path: Parameter[] = resource.namespaced ? [["namespace", "string"]] : []
  const shared = (names: readonly Parameter[]): Json[] => [
    ...names.map((name) => parameter(dialect, name, "path")),
    parameter(dialect, ["pretty", "string"]),
  ]
  const paths: JsonObject = {}
  const put = (at: string, operations: JsonObject, names: readonly Parameter[]): void => {
    if (Object.keys(operations).length > 0) paths[at] = { ...operations, parameters: shared(names) }
  }
  const single = `${scope}/${resource.resource}/{name}`
  if (subresource !== undefined) {
    put(`${single}/${subresource}`, subresourceOperations(options), [["name", "string"], ...path])
    if (subresource === "proxy") {
      const names: readonly Parameter[] = [["name", "string"], ...path, ["path", "string"]]
      put(`${single}/proxy/{path}`, subresourceOperations(options, "WithPath"), names)
    }
    return paths
  }
  put(`${scope}/${resource.resource}`, collectionOperations(options), path)
  put(single, objectOperations(options), [["name", "string"], ...path])
  if (resource.namespaced && options.verbs.includes("list")) {
    put(`${prefix}/${resource.resource}`, { get: listOperation(options, true) }, [])
  }
  return paths
}

function base(options: PathsOptions, verb: string, suffix = ""): Pick<Operation, "id" | "kind" | "tag" | "produces"> {
  const { resource, subresource, kind, produces } = options
  const scope = resource.namespaced ? "Namespaced" : ""
  const below = subresource === undefined ? "" : capital(subresource)
  const id = `${verb.replace("*", camelGroupVersion(resource))}${scope}${resource.kind}${below}${suffix}`
  return { id, kind: { group: kind.group, version: kind.version, kind: kind.kind }, tag: tagOf(resource), produces }
}

function listOperation(options: PathsOptions, allNamespaces: boolean): JsonObject {
  const { resource, shapes, dialect } = options
  const common = base(options, "list*")
  const id = allNamespaces ? `list${camelGroupVersion(resource)}${resource.kind}ForAllNamespaces` : common.id
  const produces = options.verbs.includes("watch")
    ? [
        ...common.produces,
        ...common.produces.filter((type) => !type.includes("yaml")).map((type) => `${type};stream=watch`),
      ]
    : common.produces
  const answers = { 200: shapes.list ?? shapes.object }
  return operation(dialect, { ...common, id, produces, action: "list", parameters: watchParameters, answers })
}

function collectionOperations(options: PathsOptions): JsonObject {
  const { verbs, shapes, dialect } = options
  const found: JsonObject = {}
  if (verbs.includes("list")) found["get"] = listOperation(options, false)
  if (verbs.includes("create") && shapes.object !== undefined) {
    found["post"] = operation(dialect, {
      ...base(options, "create*"),
      action: "post",
      parameters: writeParameters,
      body: { schema: shapes.object, required: true },
      answers: { 200: shapes.object, 201: shapes.object, 202: shapes.object },
    })
  }
  if (verbs.includes("deletecollection")) {
    found["delete"] = operation(dialect, {
      ...base(options, "delete*Collection"),
      action: "deletecollection",
      parameters: [...deleteParameters, ...selectParameters],
      body: { schema: shapes.deleteOptions, required: false },
      answers: { 200: shapes.status },
    })
  }
  return found
}

function objectOperations(options: PathsOptions): JsonObject {
  const { verbs, shapes, dialect } = options
  const { object } = shapes
  const found: JsonObject = {}
  if (verbs.includes("get")) {
    found["get"] = operation(dialect, { ...base(options, "read*"), action: "get", answers: { 200: object } })
  }
  if (verbs.includes("update") && object !== undefined) {
    found["put"] = operation(dialect, {
      ...base(options, "replace*"),
      action: "put",
      parameters: writeParameters,
      body: { schema: object, required: true },
      answers: { 200: object, 201: object },
    })
  }
  if (verbs.includes("patch")) {
    found["patch"] = operation(dialect, {
      ...base(options, "patch*"),
      action: "patch",
      parameters: [...writeParameters, ["force", "boolean"]],
      body: { schema: shapes.patch, required: true, types: patchTypes },
      answers: { 200: object, 201: object },
    })
  }
  if (verbs.includes("delete")) {
    found["delete"] = operation(dialect, {
      ...base(options, "delete*"),
      action: "delete",
      parameters: deleteParameters,
      body: { schema: shapes.deleteOptions, required: false },
      answers: { 200: shapes.status, 202: shapes.status },
    })
  }
  return found
}

/** Subresources that carry streams: any method, any body. */
const connected = new Set(["attach", "exec", "portforward", "proxy"])

export function isConnected(subresource: string): boolean {
  return connected.has(subresource)
}

const connectMethods: readonly (readonly [verb: string, method: string])[] = [
  ["get", "get"],
  ["create", "post"],
  ["update", "put"],
  ["patch", "patch"],
  ["delete", "delete"],
]

function subresourceOperations(options: PathsOptions, suffix = ""): JsonObject {
  const { subresource = "", verbs, shapes, dialect } = options
  if (isConnected(subresource)) {
    const methods = connectMethods.filter(([verb]) => verbs.includes(verb))
    return Object.fromEntries(
      methods.map(([, method]) => {
        const common = base(options, `connect*${capital(method)}`, suffix)
        return [
          method,
          operation(dialect, { ...common, produces: ["*/*"], action: "connect", answers: { 200: undefined } }),
        ]
      }),
    )
  }
  const found = objectOperations({ ...options, verbs: verbs.filter((verb) => verb !== "delete") })
  if (subresource === "log") {
    found["get"] = operation(dialect, {
      ...base(options, "read*"),
      produces: ["text/plain"],
      action: "get",
      parameters: logParameters,
      answers: { 200: undefined },
    })
  }
  if (verbs.includes("create") && shapes.object !== undefined) {
    found["post"] = operation(dialect, {
      ...base(options, "create*"),
      action: "post",
      parameters: writeParameters,
      body: { schema: shapes.object, required: true },
      answers: { 200: shapes.object, 201: shapes.object, 202: shapes.object },
    })
  }
  return found
}
