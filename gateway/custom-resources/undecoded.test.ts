import { expect, test } from "vitest"
import { FieldPath } from "../../apimachinery/field-errors.ts"
import { deepFreeze } from "../../apimachinery/freeze.ts"
import type { Json, KubeObject } from "../../apimachinery/object.ts"
import { validateRules } from "../../apimachinery/schema/validate.ts"
import type { AdmissionAttributes } from "../admission/chain.ts"
import { replaceObject } from "../admission/patched.ts"
import { hasUnread } from "../registry/generic/storage/unread-fields.ts"
import { compileSchema } from "./schemas.ts"
import type { CustomResourceVersion } from "./types.ts"
import { decodePatched, notePatched, readMetadata } from "./undecoded.ts"

const text = { type: "string" }
const openAPIV3Schema = {
  type: "object",
  properties: { spec: { type: "object", properties: { a: text, d: { ...text, default: "x" } } } },
}
const schema = compileSchema({ name: "v1", schema: { openAPIV3Schema } } as unknown as CustomResourceVersion)

test.each<[string, Json, Json]>([
  ["a field of a wrong type", { name: "a", labels: 5 }, { name: "a" }],
  ["one value of a wrong type", { name: "a", labels: { b: 5, c: "d" } }, { name: "a" }],
  ["a name of a wrong type", { name: 5, labels: { b: "c" } }, { labels: { b: "c" } }],
  ["a field that there is not", { name: "a", more: "x" }, { name: "a" }],
  ["a time that is none", { name: "a", creationTimestamp: "x" }, { name: "a" }],
])("metadata with %s has the others", (_, metadata, read) => {
  expect(readMetadata({ metadata }, true).metadata).toEqual(read)
})

test("metadata that is no object is refused for a new object, and there is none for an update", () => {
  for (const metadata of [5, "x", null, []]) {
    expect(() => readMetadata({ metadata }, true)).toThrow("system metadata was not initialized")
    expect(readMetadata({ metadata }, false).metadata).toEqual({})
  }
  expect(readMetadata({}, true).metadata).toEqual({})
})

function patched(spec: Json): KubeObject {
  const object = { apiVersion: "a/v1", kind: "A", metadata: { name: "a" }, spec } as unknown as KubeObject
  notePatched(object)
  return object
}

test.each<[string, Json, boolean]>([
  ["a null without a default", { a: null, d: "x" }, true],
  ["a field that is not declared", { b: 5, d: "x" }, true],
  ["what is read as it is stored", { d: "x" }, false],
])("an object is stored without %s, which is a change if there is some", (_, spec, isStoredOtherwise) => {
  const object = patched(deepFreeze(spec))
  decodePatched(schema, object, false)
  expect(object["spec"]).toEqual({ d: "x" })
  expect(hasUnread(object)).toBe(isStoredOtherwise)
})

test("an object that no patch has made is left alone", () => {
  const object = { apiVersion: "a/v1", kind: "A", metadata: { name: "a" }, spec: { b: 5 } } as unknown as KubeObject
  decodePatched(schema, object, false)
  expect(object["spec"]).toEqual({ b: 5 })
})

test("what is malformed fails where an object is stored in another version", () => {
  const object = patched({ d: "x" })
  notePatched(object, "labels are none")
  expect(() => decodePatched(schema, object, true)).toThrow("labels are none")
  decodePatched(schema, object, false)
  expect(object["spec"]).toEqual({ d: "x" })
  const mended = patched({ d: "x" })
  notePatched(mended, "labels are none")
  notePatched(mended)
  expect(() => decodePatched(schema, mended, true)).not.toThrow()
})

const holder = compileSchema({
  name: "v1",
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: {
        one: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
      },
    },
  },
} as unknown as CustomResourceVersion)

const pod = { apiVersion: "v1", kind: "Pod" }
const unread = (field: string, type: string): string =>
  `one.metadata: json: cannot unmarshal number into Go struct field ObjectMeta.${field} of type ${type}`

test.each<[Json, string[], Json]>([
  [{ apiVersion: 5, kind: null }, ["one.apiVersion: must be a string", "one.kind: must be a string"], {}],
  [{ ...pod, metadata: { name: 5 } }, [unread("name", "string")], { ...pod, metadata: {} }],
  [
    { ...pod, metadata: { name: "a", labels: 5 } },
    [unread("labels", "map[string]string")],
    { ...pod, metadata: { name: "a" } },
  ],
  [{ ...pod, metadata: { finalizers: 5 } }, [unread("finalizers", "[]string")], { ...pod, metadata: {} }],
  [{ ...pod, metadata: null }, [], { ...pod, metadata: {} }],
])("the embedded object %j is refused for what is of a wrong type, or read without it", (one, faults, read) => {
  const object = { ...patched({ d: "x" }), one } as unknown as KubeObject
  const errors = validateRules(holder, object as unknown as Json, FieldPath.root())
  expect(errors.map(({ field, detail }) => `${field}: ${detail}`)).toEqual(faults)
  notePatched(object)
  decodePatched(holder, object, false)
  expect(object["one"]).toEqual(read)
})

test("no field of an object comes from a prototype that a patch has given it", () => {
  const object = patched({ d: "x" })
  const inherited = '{"spec":{"a":"y"},"status":{"a":"y"}}'
  const next = JSON.parse(`{"apiVersion":"a/v1","kind":"A","metadata":{"name":"a"},"__proto__":${inherited}}`)
  const kind = { group: "a", version: "v1", kind: "A" }
  replaceObject({ object, kind, definition: { ...kind, customResource: {} } } as unknown as AdmissionAttributes, next)
  expect(Object.keys(object)).toContain("__proto__")
  decodePatched(schema, object, false)
  expect(object).toStrictEqual({ apiVersion: "a/v1", kind: "A", metadata: { name: "a" } })
})
