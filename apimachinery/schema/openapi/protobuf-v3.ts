// Documents of OpenAPI version 3 as protobuf messages.

import type { Json } from "../../object.ts"
import { isObject } from "../json-object.ts"
import type { Pieces } from "./documents.ts"
import {
  any,
  bool,
  bounds,
  documentation,
  double,
  empty,
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

/** SchemaOrReference. */
function schema(value: Json): Uint8Array {
  const reference = isObject(value) ? value["$ref"] : undefined
  if (typeof reference === "string") return field(2, field(1, Buffer.from(reference)))
  return field(1, plainSchema(value))
}

function plainSchema(value: Json): Uint8Array {
  return encodeSchema(value)
}

const additional: Encode = (value) =>
  typeof value === "boolean" ? scalarField(bool(2), value) : field(1, schema(value))

/** Objects, lists and null cannot be represented, only the presence of a default. */
function defaultValue(value: Json): Uint8Array {
  if (typeof value === "number" || typeof value === "bigint") return scalarField(double(1), Number(value))
  if (typeof value === "boolean") return scalarField(bool(2), value)
  return typeof value === "string" ? field(3, Buffer.from(value)) : empty
}

const encodeSchema = message(
  {
    nullable: bool(1),
    externalDocs: [6, one(documentation)],
    example: [7, one(any)],
    title: [9, text],
    ...bounds(10),
    type: [25, text],
    allOf: [26, many(schema)],
    oneOf: [27, many(schema)],
    anyOf: [28, many(schema)],
    not: [29, one(plainSchema)],
    items: [30, (value) => [field(1, schema(value))]],
    properties: [31, one(named(1, schema))],
    additionalProperties: [32, one(additional)],
    default: [33, one(defaultValue)],
    description: [34, text],
    format: [35, text],
  },
  36,
)

const parameter = message({
  name: [1, text],
  in: [2, text],
  description: [3, text],
  required: bool(4),
  schema: [10, one(schema)],
})
const parameterItem: Encode = (value) => field(1, parameter(value))

const content = named(1, message({ schema: [1, one(schema)] }))
const requestBody = message({ description: [1, text], content: [2, one(content)], required: bool(3) })
const response = message({ description: [1, text], content: [3, one(content)] })

const operation = message(
  {
    tags: [1, texts],
    description: [3, text],
    operationId: [5, text],
    parameters: [6, many(parameterItem)],
    requestBody: [7, (value) => [field(1, requestBody(value))]],
    responses: [8, one(named(2, (value) => field(1, response(value))))],
  },
  13,
)

const pathItem = message({
  ...methods(4, operation),
  parameters: [13, many(parameterItem)],
})

const securityScheme = message({ type: [1, text], description: [2, text], name: [3, text], in: [4, text] })
const securitySchemes = named(1, (value) => field(1, securityScheme(value)))

const members = message({
  openapi: [1, text],
  info: [2, one(message({ title: [1, text], version: [6, text] }))],
})

function placeOf(within: readonly string[], name: string): Place | undefined {
  switch (within.join(".")) {
    case "":
      return { path: [], encode: (member, value) => members({ [member]: value }) }
    case "paths":
      return { path: [4], encode: (path, value) => field(1, namedValue(path, pathItem(value))) }
    case "components.schemas":
      return { path: [5, 1], encode: (type, value) => field(1, namedValue(type, schema(value))) }
    case "components":
      return name === "securitySchemes" ? { path: [5, 7], encode: (_, value) => securitySchemes(value) } : undefined
    default:
      return undefined
  }
}

/** `pieces`: the result of openAPIV3. */
export function encodeOpenAPIV3(pieces: Pieces): Generator<Uint8Array> {
  return encodePieces(pieces, placeOf)
}

/** The media types that clients request; the response has the second one, because Go rejects the first as invalid. */
export const openAPIV3ProtobufTypes = [
  "application/com.github.proto-openapi.spec.v3@v1.0+protobuf",
  "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
] as const
