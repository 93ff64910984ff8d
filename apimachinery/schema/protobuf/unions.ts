// The unions of CustomResourceDefinitions: alternative values in JSON, in protobuf a message with a field for each alternative.
// Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1/generated.proto.

import type { Json } from "../../object.ts"
import { isObject, type JsonObject } from "../json-object.ts"
import { schemaOfType } from "../facts.ts"
import { MessageReader } from "./wire.ts"
import type { ReverseWriter } from "./writer.ts"
import type { Schema } from "../schema.ts"

const prefix = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

/** Decodes a message of type JSONSchemaProps, which adds to what an earlier one said. */
export type ReadProps = (schema: Schema, buffer: Buffer, earlier: Json | undefined) => JsonObject

/** Undefined if `schema` is not one of them. `before`: what earlier messages of the same field said; a list is added to in place. */
export function readUnion(
  schema: Schema,
  buffer: Buffer,
  readProps: ReadProps,
  before: Json | undefined,
): Json | undefined {
  const { name = "" } = schema
  const type = name.slice(prefix.length)
  if (!isUnion(schema)) return undefined
  let allows = typeof before === "boolean" ? before : undefined
  let single = isObject(before) ? before : undefined
  const list = Array.isArray(before) ? before : []
  const isOrBool = type === "JSONSchemaPropsOrBool"
  const reader = new MessageReader(buffer, type)
  for (let number = reader.next(); number > 0; number = reader.next()) {
    if (number === 1 && isOrBool) allows = reader.varint("Allows") !== 0n
    else if (number === (isOrBool ? 2 : 1)) single = readProps(propsSchema(), reader.bytes("Schema"), single)
    else if (number !== 2) reader.skip()
    else if (type === "JSONSchemaPropsOrArray")
      list.push(readProps(propsSchema(), reader.bytes("JSONSchemas"), undefined))
    else list.push(reader.bytes("Property").toString("utf8"))
  }
  if (isOrBool) return single ?? allows ?? false
  return list.length > 0 ? list : (single ?? null)
}

export function isUnion({ name = "" }: Schema): boolean {
  return name.startsWith(`${prefix}JSONSchemaPropsOr`)
}

/** Returns the writer for a type. */
type WriterOf = (schema: Schema) => (writer: ReverseWriter, value: Json) => void

/** Writes the fields of a union from the last to the first. */
export function encodeUnion(schema: Schema, value: Json, writer: ReverseWriter, writerOf: WriterOf): void {
  const writeProps = (tag: number, one: Json): void =>
    delimited(writer, tag, () => writerOf(propsSchema())(writer, one))
  const isList = Array.isArray(value)
  if (schema.name === `${prefix}JSONSchemaPropsOrBool`) {
    if (isObject(value)) writeProps(0x12, value)
    writer.byte(value === false || value === null ? 0 : 1)
    writer.byte(0x08)
    return
  }
  if (isList) {
    for (const one of value.toReversed()) {
      if (typeof one === "string") delimited(writer, 0x12, () => writer.text(one))
      else writeProps(0x12, one)
    }
  } else if (isObject(value)) writeProps(0x0a, value)
}

function delimited(writer: ReverseWriter, tag: number, write: () => void): void {
  const before = writer.written
  write()
  writer.varint(writer.written - before)
  writer.byte(tag)
}

function propsSchema(): Schema {
  const schema = schemaOfType(`${prefix}JSONSchemaProps`)
  if (schema === undefined) throw new Error("facts.json lacks JSONSchemaProps")
  return schema
}
