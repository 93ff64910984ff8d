// Compares with Go's encoding (messages.json, see parse.test.ts), and with the parser here for random objects.

import { describe, expect, test } from "vitest"
import { printGroupVersion, type Json } from "../../object.ts"
import { decodeObject, writeZeros } from "../decode/decode.ts"
import { type JsonObject, setOwn } from "../json-object.ts"
import { kindsOfTypes, schemaOfType } from "../facts.ts"
import { parseProtobuf } from "./parse.ts"
import { encodeMessage, encodeProtobuf, encodeWatchEvent, envelope } from "./encode.ts"
import type { Schema } from "../schema.ts"
import { messages, schemaNamed, type Message } from "../testing/protobuf-messages.ts"
import { createRandom, seedOf } from "../../testing/random.ts"
import { randomObject } from "../testing/random-object.ts"

/** Messages with differences that JSON cannot express: bytes or raw JSON that are nil in Go, null, or empty. */
const ambiguous: ReadonlySet<string> = new Set([
  "apiextensions.k8s.io/v1/CustomResourceDefinition full",
  "apiextensions.k8s.io/v1/CustomResourceDefinition of zeros",
  "resource.k8s.io/v1/ResourceClaim of zeros",
  "v1/ConfigMap of zeros",
  "v1/Secret of zeros",
])

/** As stored and returned. */
function settled(schema: Schema, value: Json): Json {
  decodeObject(schema, value, false)
  writeZeros(schema, value)
  return value
}

/** Without what messages do not contain: kinds of inner objects, and the difference between empty and missing lists or maps. */
function comparable(schema: Schema, value: Json, isRoot = true): Json {
  if (Array.isArray(value)) return value.map((item) => comparable(schema.items ?? schema, item, false))
  if (typeof value !== "object" || value === null || schema.preserveUnknown === true) return value
  const kept: JsonObject = {}
  for (const [key, inner] of Object.entries(value)) {
    const field = schema.fields?.[key]
    if (!isRoot && field !== undefined && field.protobuf === undefined) continue
    const rest = comparable(field?.schema ?? schema.items ?? schema, inner, false)
    const isEmpty = rest === null || (typeof rest === "object" && Object.keys(rest).length === 0)
    if (field === undefined || !isEmpty) setOwn(kept, key, rest)
  }
  return kept
}

describe("encodeProtobuf()", () => {
  const named = messages.map((message, index) => [`${message.kind} ${index % 2 === 0 ? "full" : "of zeros"}`, message])

  test.each(named as [string, Message][])("writes %s exactly like Go", (name, { kind, protobuf, json }) => {
    const schema = schemaNamed(kind)
    const written = encodeProtobuf(schema, json)
    if (!ambiguous.has(name)) {
      expect(written.toString("hex")).toBe(Buffer.from(protobuf, "base64").toString("hex"))
    }
    expect(settled(schema, parseProtobuf(written, schema))).toEqual(settled(schema, structuredClone(json)))
  })

  const kinds = [...kindsOfTypes().entries()].filter(([name]) => !name.endsWith("meta.v1.Table"))

  test.each(kinds)("writes %s so that it is parsed unchanged", (name, [gvk]) => {
    const seed = seedOf()
    const random = createRandom(seed)
    const schema = schemaOfType(name)
    if (schema === undefined || gvk === undefined) throw new Error(`no schema of ${name}`)
    for (let round = 0; round < 10; round++) {
      const object = randomObject(random, schema) as JsonObject
      object["apiVersion"] = printGroupVersion(gvk)
      object["kind"] = gvk.kind
      const before = settled(schema, structuredClone(object))
      const after = settled(schema, parseProtobuf(encodeProtobuf(schema, before), schema))
      expect(comparable(schema, after), `SEED=${seed}, round ${round}`).toEqual(comparable(schema, before))
    }
  })

  test("writes large strings and many items into a growing buffer", () => {
    const schema = schemaNamed("v1/ConfigMap")
    const data = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`key-${index}`, "ü".repeat(index * 10)]))
    const read = parseProtobuf(encodeProtobuf(schema, { kind: "ConfigMap", apiVersion: "v1", data }), schema)
    expect(read).toEqual({ kind: "ConfigMap", apiVersion: "v1", metadata: expect.any(Object) as Json, data })
  })

  test("writes the verbs of discovery as a nested message, like Go", () => {
    const schema = schemaOfType("io.k8s.apimachinery.pkg.apis.meta.v1.APIResource")
    if (schema === undefined) throw new Error("no schema of APIResource")
    const resource = { name: "a", singularName: "", namespaced: true, kind: "A", verbs: ["get", "list"] }
    expect(encodeMessage(schema, resource).toString("latin1")).toBe(
      '\n\x01a\x10\x01\x1a\x01A"\x0b\n\x03get\n\x04list2\0B\0J\0R\0',
    )
  })

  test("sorts map keys by bytes", () => {
    const schema = schemaNamed("v1/ConfigMap")
    const written = encodeProtobuf(schema, { data: { "\u{1f600}": "1", "\uff00": "2", b: "3", a: "4" } })
    const read = parseProtobuf(written, schema) as { data: Record<string, string> }
    expect(Object.keys(read.data)).toEqual(["a", "b", "\uff00", "\u{1f600}"])
  })
})

describe("encodeWatchEvent()", () => {
  test("frames an event with its length in four bytes", () => {
    const event = encodeWatchEvent("ADDED", Buffer.from("x"))
    expect(event.toString("latin1")).toBe("\0\0\0\f\n\x05ADDED\x12\x03\n\x01x")
  })
})

describe("envelope()", () => {
  test("encloses a message like encodeProtobuf()", () => {
    const schema = schemaNamed("v1/Namespace")
    const object = { kind: "Namespace", apiVersion: "v1", metadata: { name: "a" } }
    const message = encodeMessage(schema, object)
    const { head, tail } = envelope("v1", "Namespace", message.length)
    expect(Buffer.concat([head, message, tail])).toEqual(encodeProtobuf(schema, object))
  })
})
