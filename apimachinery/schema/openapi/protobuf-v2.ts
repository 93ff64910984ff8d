// The OpenAPI version 2 document as a protobuf message, the only format that kubectl up to 1.28 accepts.

import type { Json } from "../../object.ts"
import { isObject } from "../json-object.ts"
import type { Pieces } from "./documents.ts"
import {
  any,
  bool,
  bounds,
  documentation,
  type Encode,
  encodePieces,
  field,
  many,
  message,
  methods,
  named,
  namedValue,
  one,
  type Place,
  scalarField,
  text,
  texts,
} from "./protobuf-message.ts"

const typeItem = (value: Json): Uint8Array[] => [Buffer.concat(texts(value).map((bytes) => field(1, bytes)))]
const additional = (value: Json): Uint8Array =>
  typeof value === "boolean" ? scalarField(bool(2), value) : field(1, schema(value))

function schema(value: Json): Uint8Array {
  return encodeSchema(value)
}

const encodeSchema = message(
  {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, one(any)],
    ...bounds(6),
    additionalProperties: [21, one(additional)],
    type: [22, typeItem],
    items: [23, (value) => [field(1, schema(value))]],
    allOf: [24, many(schema)],
    properties: [25, one(named(1, schema))],
    externalDocs: [29, one(documentation)],
    example: [30, one(any)],
  },
  31,
)

const bodyParameter = message({
  description: [1, text],
  name: [2, text],
  in: [3, text],
  required: bool(4),
  schema: [5, one(schema)],
})
const common = { required: bool(1), in: [2, text], description: [3, text], name: [4, text] } as const
const queryParameter = message({ ...common, type: [6, text], uniqueItems: bool(20) })
const pathParameter = message({ ...common, type: [5, text], uniqueItems: bool(19) })

/** Parameter → body parameter, or parameter of query or path. */
function parameter(value: Json): Uint8Array {
  const where = isObject(value) ? value["in"] : undefined
  if (where === "body") return field(1, bodyParameter(value))
  return field(2, where === "path" ? field(4, pathParameter(value)) : field(3, queryParameter(value)))
}

/** ParametersItem: a parameter, or a reference to a shared one. */
function parameterItem(value: Json): Uint8Array {
  const reference = isObject(value) ? value["$ref"] : undefined
  return typeof reference === "string" ? field(2, field(1, Buffer.from(reference))) : field(1, parameter(value))
}

const response = message({ description: [1, text], schema: [2, (value) => [field(1, schema(value))]] })
const responses = named(1, (value) => field(1, response(value)))

const operation = message(
  {
    tags: [1, texts],
    description: [3, text],
    operationId: [5, text],
    produces: [6, texts],
    consumes: [7, texts],
    parameters: [8, many(parameterItem)],
    responses: [9, one(responses)],
    schemes: [10, texts],
  },
  13,
)

const pathItem = message(
  {
    ...methods(2, operation),
    parameters: [9, many(parameterItem)],
  },
  10,
)

const apiKey = message({ type: [1, text], name: [2, text], in: [3, text], description: [4, text] })
const strings: Encode = (value) => Buffer.concat(texts(value).map((bytes) => field(1, bytes)))

const members = message({
  swagger: [1, text],
  info: [2, one(message({ title: [1, text], version: [2, text] }))],
  parameters: [10, one(named(1, parameter))],
  security: [12, many(named(1, strings))],
  securityDefinitions: [13, one(named(1, (value) => field(2, apiKey(value))))],
})

function placeOf(within: readonly string[]): Place | undefined {
  switch (within.join(".")) {
    case "":
      return { path: [], encode: (name, value) => members({ [name]: value }) }
    case "paths":
      return { path: [8], encode: (name, value) => field(2, namedValue(name, pathItem(value))) }
    case "definitions":
      return { path: [9], encode: (name, value) => field(1, namedValue(name, schema(value))) }
    default:
      return undefined
  }
}

/** `pieces`: the result of openAPIV2. */
export function encodeOpenAPIV2(pieces: Pieces): Generator<Uint8Array> {
  return encodePieces(pieces, placeOf)
}

/** The media types that clients request; the response has the second one, because Go rejects the first as invalid. */
export const openAPIV2ProtobufTypes = [
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
  "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
] as const
