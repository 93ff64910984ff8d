// The unions of CustomResourceDefinitions: alternative values in JSON, in protobuf a message with a field for each alternative.
// Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1/generated.proto.

import type { Json } from "../../object.ts"
import { isObject } from "../json-object.ts"
import { schemaOfType } from "../facts.ts"
import { expectType, fieldOf, fieldsOf } from "./wire.ts"
import type { ReverseWriter } from "./writer.ts"
import type { Schema } from "../schema.ts"

const prefix = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

/** Decodes a message of type JSONSchemaProps. */
type ReadProps = (schema: Schema, buffer: Buffer) => Json

/** Undefined if `schema` is not one of them. */
export function readUnion(schema: Schema, buffer: Buffer, readMessage: ReadProps): Json | undefined {
  switch (schema.name) {
    case `${prefix}JSONSchemaPropsOrBool`:
      return single(buffer, 2, readMessage) ?? (fieldOf(buffer, 1, "varint")?.value ?? 0n) !== 0n
    case `${prefix}JSONSchemaPropsOrArray`: {
      const all = repeated(buffer, 2).map((bytes) => props(bytes, readMessage))
      return all.length > 0 ? all : (single(buffer, 1, readMessage) ?? null)
    }
    case `${prefix}JSONSchemaPropsOrStringArray`: {
      const all = repeated(buffer, 2).map((bytes) => bytes.toString("utf8"))
      return all.length > 0 ? all : (single(buffer, 1, readMessage) ?? null)
    }
    default:
      return undefined
  }
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

function single(buffer: Buffer, number: number, readMessage: ReadProps): Json | undefined {
  const field = fieldOf(buffer, number, "bytes")
  return field === undefined ? undefined : props(field.bytes, readMessage)
}

function props(buffer: Buffer, readMessage: ReadProps): Json {
  return readMessage(propsSchema(), buffer)
}

function repeated(buffer: Buffer, number: number): Buffer[] {
  const found: Buffer[] = []
  for (const field of fieldsOf(buffer)) if (field.number === number) found.push(expectType(field, "bytes").bytes)
  return found
}
