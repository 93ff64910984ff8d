// OpenAPI descriptions of operations, by path, in the dialects of both versions.

import type { JsonObject } from "../json-object.ts"
import {
  commonParameters,
  type Parameter,
  type PrintedParameters,
  sortParameters,
  withoutParameters,
} from "./parameters.ts"
import type { Dialect } from "./schemas.ts"

export interface PublishedKind {
  group: string
  version: string
  kind: string
}

export type Method = "get" | "put" | "post" | "delete" | "options" | "head" | "patch"

/** Values of x-kubernetes-action. */
export type Action =
  | "get"
  | "list"
  | "watch"
  | "watchlist"
  | "post"
  | "put"
  | "patch"
  | "delete"
  | "deletecollection"
  | "connect"

export interface Operation {
  method: Method
  description: string
  id: string
  tag: string
  /** Absent if the operation does not belong to a resource. */
  about?: { action: Action; kind: PublishedKind }
  parameters: readonly Parameter[]
  /** `schema` is a reference. */
  body?: { schema: JsonObject; required: boolean }
  /** By status code: a reference; undefined for plain text. */
  answers: Readonly<Record<number, JsonObject | undefined>>
  consumes: readonly string[]
  produces: readonly string[]
}

const words: Readonly<Record<number, string>> = { 200: "OK", 201: "Created", 202: "Accepted" }

/** The operations of one path, with common parameters factored out. */
export function pathItem(dialect: Dialect, operations: readonly Operation[], printed: PrintedParameters): JsonObject {
  const common = commonParameters(operations.map(({ parameters }) => parameters))
  const item: JsonObject = {}
  for (const one of operations) {
    const own = { ...one, parameters: withoutParameters(one.parameters, common) }
    item[one.method] = dialect === "v2" ? operationV2(own, printed) : operationV3(own, printed)
  }
  if (common.length > 0) item["parameters"] = common.map((one) => printed.parameter(one))
  return item
}

function operationV3(operation: Operation, printed: PrintedParameters): JsonObject {
  const { tag, description, id, body, consumes, produces } = operation
  const parameters = operation.parameters.map((one) => printed.parameter(one))
  const content = (types: readonly string[], schema: JsonObject): JsonObject =>
    Object.fromEntries(types.map((type) => [type, { schema }]))
  const required = body?.required === true ? { required: true } : {}
  const requestBody = body === undefined ? {} : { content: content(consumes, body.schema), ...required }
  return {
    tags: [tag],
    description,
    operationId: id,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody }),
    responses: responses(operation, (schema) => ({ content: content(produces, schema) })),
    ...extensions(operation),
  }
}

function operationV2(operation: Operation, printed: PrintedParameters): JsonObject {
  const { tag, description, id, body, consumes, produces } = operation
  const bodies: Parameter[] = body === undefined ? [] : [bodyMark]
  const parameters = sortParameters([...operation.parameters, ...bodies]).map((one) =>
    one === bodyMark && body !== undefined ? bodyParameter(body, printed) : printed.parameter(one),
  )
  return {
    ...(consumes.length === 0 ? {} : { consumes: [...consumes] }),
    produces: [...produces],
    schemes: ["https"],
    tags: [tag],
    description,
    operationId: id,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: responses(operation, (schema) => ({ schema })),
    ...extensions(operation),
  }
}

/** Marks the position of the body among the parameters. */
const bodyMark: Parameter = { in: "query", name: "body", type: "object", key: "" }

/** Bodies that every group accepts are shared. */
function bodyParameter(body: { schema: JsonObject; required: boolean }, printed: PrintedParameters): JsonObject {
  const { $ref } = body.schema
  const type =
    typeof $ref === "string" ? (/^#\/definitions\/io\.k8s\.apimachinery.*\.(\w+)$/.exec($ref)?.[1] ?? "") : ""
  const required = body.required ? { required: true } : {}
  return printed.shared(`body.${type}`, { name: "body", in: "body", ...required, schema: body.schema })
}

function responses({ answers }: Operation, print: (schema: JsonObject) => JsonObject): JsonObject {
  const found: JsonObject = {}
  for (const [code, schema] of Object.entries(answers)) {
    found[code] = { description: words[Number(code)] ?? "", ...print(schema ?? { type: "string" }) }
  }
  return { ...found, "401": { description: "Unauthorized" } }
}

function extensions({ about }: Operation): JsonObject {
  if (about === undefined) return {}
  const { group, kind, version } = about.kind
  return { "x-kubernetes-action": about.action, "x-kubernetes-group-version-kind": { group, kind, version } }
}
