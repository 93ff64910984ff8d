// Makes a version 3 document of the version 2 document of another server, which has no other. What version 3 expresses in other ways is
// lost, as upstream: details of parameters, headers of responses. Source: k8s.io/kube-openapi/pkg/openapiconv.

import type { Json } from "../../object.ts"
import { isObject, type JsonObject, present } from "../json-object.ts"
import { isUnpublished } from "./custom.ts"

/** Undefined if it is no document. */
export function convertedToV3(swagger: Json | undefined): JsonObject | undefined {
  if (!isObject(swagger) || (swagger["swagger"] === undefined && swagger["paths"] === undefined)) return undefined
  const { info = null, externalDocs, paths, securityDefinitions, definitions, responses, produces } = swagger
  const response = (value: Json): Json => convertResponse(value, produces)
  return present({
    openapi: "3.0.0",
    info,
    externalDocs,
    paths: isObject(paths) ? { ...mapped(pathsOf(paths), convertPath), ...extensionsOf(paths) } : undefined,
    components: present({
      schemas: mapped(definitions, convertSchema),
      securitySchemes: mapped(securityDefinitions, convertSecurity),
      responses: mapped(responses, response),
    }),
  })
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch"] as const

function convertPath(item: Json): Json {
  if (!isObject(item)) return {}
  const operations = methods.map((method) => [method, convertOperation(item[method])] as const)
  return present({
    $ref: item["$ref"],
    ...Object.fromEntries(operations),
    parameters: listOf(item["parameters"])?.map(convertParameter),
    ...extensionsOf(item),
  })
}

function convertOperation(operation: Json | undefined): Json | undefined {
  if (!isObject(operation)) return undefined
  const { description, externalDocs, tags, summary, deprecated, operationId, consumes, produces, responses } = operation
  const parameters = listOf(operation["parameters"]) ?? []
  const isBody = (parameter: Json): boolean =>
    isObject(parameter) && parameter["name"] === "body" && isObject(parameter["schema"])
  const others = parameters.filter((parameter) => !isBody(parameter)).map(convertParameter)
  const body = parameters.findLast(isBody)
  return present({
    tags,
    summary,
    description,
    externalDocs,
    operationId,
    parameters: others.length === 0 ? undefined : others,
    requestBody: isObject(body) ? present({ content: contentOf(consumes, body["schema"]) }) : undefined,
    responses: isObject(responses)
      ? { ...mapped(withoutExtensions(responses), (one) => convertResponse(one, produces)), ...extensionsOf(responses) }
      : {},
    deprecated: deprecated === true ? true : undefined,
    ...extensionsOf(operation),
  })
}

function convertParameter(parameter: Json): Json {
  if (!isObject(parameter)) return {}
  const { $ref, name, description, required, schema, type = "", format, uniqueItems, allowEmptyValue } = parameter
  const plain = present({ type, format, uniqueItems: uniqueItems === true ? true : undefined })
  return present({
    $ref: moved($ref, "parameters"),
    name,
    in: parameter["in"],
    description,
    required: required === true ? true : undefined,
    allowEmptyValue: allowEmptyValue === true ? true : undefined,
    schema: isObject(schema) ? convertSchema(schema) : plain,
    ...extensionsOf(parameter),
  })
}

function convertResponse(response: Json, produces: Json | undefined): Json {
  if (!isObject(response)) return {}
  const { $ref, description, schema } = response
  return present({
    $ref: moved($ref, "responses"),
    description,
    content: isObject(schema) ? contentOf(produces, schema) : undefined,
    ...extensionsOf(response),
  })
}

/** The schema is repeated for each, so that untrusted documents must not have many. Kubernetes has fewer. */
const maxMediaTypes = 10

function contentOf(types: Json | undefined, schema: Json | undefined): Json | undefined {
  const texts =
    listOf(types)
      ?.filter((type) => typeof type === "string")
      .slice(0, maxMediaTypes) ?? []
  if (texts.length === 0) return undefined
  const converted = convertSchema(schema ?? {})
  return Object.fromEntries(texts.map((type) => [type, { schema: converted }]))
}

function convertSecurity(scheme: Json): Json {
  if (!isObject(scheme)) return {}
  const { type, description, name, flow, authorizationUrl, tokenUrl, scopes } = scheme
  const flows =
    typeof flow === "string" && flow !== "" ? { [flow]: present({ authorizationUrl, tokenUrl, scopes }) } : undefined
  return present({ type, description, name, in: scheme["in"], flows, ...extensionsOf(scheme) })
}

/** References within the alternatives of a schema still lead to version 2, as upstream. */
function convertSchema(schema: Json): Json {
  if (!isObject(schema)) return schema
  const { properties, items } = schema
  const inner: JsonObject = {}
  if (isObject(properties)) inner["properties"] = mapped(properties, convertSchema) ?? {}
  if (items !== undefined) inner["items"] = Array.isArray(items) ? items.map(convertSchema) : convertSchema(items)
  for (const key of ["additionalProperties", "additionalItems"]) {
    const value = schema[key]
    if (value !== undefined) inner[key] = convertSchema(value)
  }
  const { $ref } = schema
  if (typeof $ref === "string") inner["$ref"] = $ref.replace(/^.*?#\/definitions\//, "#/components/schemas/")
  const { example, ...others } = { ...schema, ...inner }
  return withoutSiblings(example === undefined || isUnpublished(example) ? others : { ...others, example })
}

const listsOfSchemas = ["allOf", "anyOf", "oneOf"]

/** In version 3 a reference cannot have siblings, so it is wrapped, also within alternatives. */
function withoutSiblings(schema: JsonObject): JsonObject {
  const wrapped = { ...schema }
  const inner = (value: Json): Json => (isObject(value) ? withoutSiblings(value) : value)
  for (const key of listsOfSchemas) {
    const list = listOf(schema[key])
    if (list !== undefined) wrapped[key] = list.map(inner)
  }
  if (isObject(schema["not"])) wrapped["not"] = withoutSiblings(schema["not"])
  if (typeof schema["$ref"] !== "string" || Object.keys(schema).length === 1) return wrapped
  const { $ref, ...others } = wrapped
  return { ...others, allOf: [{ $ref: $ref ?? "" }] }
}

function moved(reference: Json | undefined, part: string): Json | undefined {
  return typeof reference === "string" ? reference.replace(`#/${part}/`, `#/components/${part}/`) : undefined
}

const isExtension = (name: string): boolean => /^x-/i.test(name)

function extensionsOf(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => isExtension(name)))
}

function withoutExtensions(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !isExtension(name)))
}

function pathsOf(paths: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(paths).filter(([name]) => name.startsWith("/")))
}

function mapped(values: Json | undefined, convert: (value: Json) => Json): JsonObject | undefined {
  if (!isObject(values)) return undefined
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, convert(value)]))
}

const listOf = (value: Json | undefined): Json[] | undefined => (Array.isArray(value) ? value : undefined)
