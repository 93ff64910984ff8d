// The OpenAPI version 2 document as a protobuf message, the only form in which kubectl up to 1.28 reads it. The tables are
// field numbers of gnostic's openapi.v2 messages, of what openapi.ts writes; extensions ("x-…") travel as YAML texts.

import type { Json } from "../object.ts"
import { isObject } from "./json-object.ts"

/** How a JSON member is written: its field number and how its value is encoded. */
type Rule = readonly [number: number, encode: (value: Json) => Uint8Array[] | undefined]

const empty = new Uint8Array(0)

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return Uint8Array.from(bytes)
}

const lengthDelimited = 2
const fixed64 = 1

function tag(number: number, wireType: number): Uint8Array {
  return varint(number * 8 + wireType)
}

function field(number: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([tag(number, lengthDelimited), varint(bytes.length), bytes])
}

/** Each encoder gives the values of a repeated field one by one, with their tags to be. */
const text = (value: Json): Uint8Array[] => [Buffer.from(typeof value === "string" ? value : JSON.stringify(value))]
const texts = (value: Json): Uint8Array[] => (Array.isArray(value) ? value : [value]).flatMap(text)

function message(rules: Readonly<Record<string, Rule | ScalarRule>>, extensions?: number): (value: Json) => Uint8Array {
  return (value) => {
    if (!isObject(value)) return empty
    const parts: Uint8Array[] = []
    for (const [name, inner] of Object.entries(value)) {
      const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
      if (rule === undefined) {
        if (extensions !== undefined && name.startsWith("x-")) parts.push(field(extensions, namedAny(name, inner)))
      } else if (isScalar(rule)) parts.push(scalarField(rule, inner))
      else for (const bytes of rule[1](inner) ?? []) parts.push(field(rule[0], bytes))
    }
    return Buffer.concat(parts)
  }
}

/** Numbers and booleans are not length-delimited. */
interface ScalarRule {
  number: number
  kind: "bool" | "int" | "double"
}

function isScalar(rule: Rule | ScalarRule): rule is ScalarRule {
  return "kind" in rule
}

function scalarField({ number, kind }: ScalarRule, value: Json): Uint8Array {
  if (kind === "double") {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(Number(value))
    return Buffer.concat([tag(number, fixed64), bytes])
  }
  return Buffer.concat([tag(number, 0), varint(Math.max(0, Number(value)))])
}

const bool = (number: number): ScalarRule => ({ number, kind: "bool" })
const int = (number: number): ScalarRule => ({ number, kind: "int" })
const double = (number: number): ScalarRule => ({ number, kind: "double" })

const one =
  (encode: (value: Json) => Uint8Array) =>
  (value: Json): Uint8Array[] => [encode(value)]
const many =
  (encode: (value: Json) => Uint8Array) =>
  (value: Json): Uint8Array[] =>
    Array.isArray(value) ? value.map(encode) : []

/** Any holds YAML, and JSON is YAML. */
function any(value: Json): Uint8Array {
  return field(2, Buffer.from(JSON.stringify(value)))
}

function namedAny(name: string, value: Json): Uint8Array {
  return Buffer.concat([field(1, Buffer.from(name)), field(2, any(value))])
}

/** A map is a message with a list of named values at field `number`. */
function named(number: number, encode: (value: Json) => Uint8Array): (value: Json) => Uint8Array {
  return (value) =>
    isObject(value)
      ? Buffer.concat(
          Object.entries(value).map(([name, inner]) =>
            field(number, Buffer.concat([field(1, Buffer.from(name)), field(2, encode(inner))])),
          ),
        )
      : empty
}

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
    multipleOf: double(6),
    maximum: double(7),
    exclusiveMaximum: bool(8),
    minimum: double(9),
    exclusiveMinimum: bool(10),
    maxLength: int(11),
    minLength: int(12),
    pattern: [13, text],
    maxItems: int(14),
    minItems: int(15),
    uniqueItems: bool(16),
    maxProperties: int(17),
    minProperties: int(18),
    required: [19, texts],
    enum: [20, many(any)],
    additionalProperties: [21, one(additional)],
    type: [22, typeItem],
    items: [23, (value) => [field(1, schema(value))]],
    allOf: [24, many(schema)],
    properties: [25, one(named(1, schema))],
    example: [30, one(any)],
  },
  31,
)

const bodyParameter = message({ name: [2, text], in: [3, text], required: bool(4), schema: [5, one(schema)] })
const queryParameter = message({
  required: bool(1),
  in: [2, text],
  name: [4, text],
  type: [6, text],
  uniqueItems: bool(20),
})
const pathParameter = message({
  required: bool(1),
  in: [2, text],
  name: [4, text],
  type: [5, text],
  uniqueItems: bool(19),
})

/** ParametersItem → Parameter → the body's, or a query's or path's. */
function parameter(value: Json): Uint8Array {
  const where = isObject(value) ? value["in"] : undefined
  if (where === "body") return field(1, field(1, bodyParameter(value)))
  return field(1, field(2, where === "path" ? field(4, pathParameter(value)) : field(3, queryParameter(value))))
}

const response = message({ description: [1, text], schema: [2, (value) => [field(1, schema(value))]] })
const responses = named(1, (value) => field(1, response(value)))

const operation = message(
  {
    tags: [1, texts],
    operationId: [5, text],
    produces: [6, texts],
    consumes: [7, texts],
    parameters: [8, many(parameter)],
    responses: [9, one(responses)],
    schemes: [10, texts],
  },
  13,
)

const pathItem = message(
  {
    get: [2, one(operation)],
    put: [3, one(operation)],
    post: [4, one(operation)],
    delete: [5, one(operation)],
    options: [6, one(operation)],
    head: [7, one(operation)],
    patch: [8, one(operation)],
    parameters: [9, many(parameter)],
  },
  10,
)

const encodeDocument = message({
  swagger: [1, text],
  info: [2, one(message({ title: [1, text], version: [2, text] }))],
  paths: [8, one(named(2, pathItem))],
  definitions: [9, one(named(1, schema))],
})

/** `document`: what openAPIV2 made. */
export function encodeOpenAPIV2(document: Json): Uint8Array {
  return encodeDocument(document)
}

/** The media types clients ask for it by; the answer is of the second, because Go refuses the first as one. */
export const openAPIV2ProtobufTypes = [
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
  "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
] as const
