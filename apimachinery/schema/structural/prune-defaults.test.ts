import { expect, test } from "vitest"
import type { Json } from "../../object.ts"
import type { Schema } from "../schema.ts"
import { compileValid } from "./structural.ts"
import { pruneDefaults } from "./prune-defaults.ts"

const object = (properties: Record<string, Json>): Json => ({ type: "object", properties })

const embedded = (metadata: Json): Json => ({
  ...(object({ metadata }) as object),
  "x-kubernetes-embedded-resource": true,
  "x-kubernetes-preserve-unknown-fields": true,
})

function schemaAt(schema: Schema, path: readonly string[]): Schema | undefined {
  return path.reduce<Schema | undefined>((at, name) => at?.fields?.[name]?.schema, schema)
}

test.each<[string, readonly string[], Json, Json | undefined]>([
  ["a field of the metadata", ["name"], "a", "a"],
  ["what Go does not write", ["generateName"], "", undefined],
  ["an unknown field", ["other"], "a", undefined],
  ["the metadata as a whole", [], { name: "a", other: "b", namespace: "" }, { name: "a" }],
  ["an unknown field below others", ["a", "b", "c", "d", "e", "f", "g"], {}, undefined],
])("a default that is %s of an embedded object", (_, path, value, pruned) => {
  const metadata = path.reduceRight<Json>((inner, name) => object({ [name]: inner }), {
    type: typeof value,
    default: value,
  })
  const schema = compileValid(object({ spec: object({ template: embedded(metadata) }) }))
  pruneDefaults(schema)
  expect(schemaAt(schema, ["spec", "template", "metadata", ...path])?.default).toStrictEqual(pruned)
})

test("what surrounds a default is not gone through for each", () => {
  const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`f${n}`, { type: "string", default: "x" }]))
  let source = object({ ...fields, e: embedded(object({})) })
  for (let level = 0; level < 50; level++) source = object({ inner: source })
  const schema = compileValid(source)
  let reads = 0
  for (let at: Schema | undefined = schema; at?.fields?.["inner"] !== undefined;) {
    const inner: NonNullable<Schema["fields"]> = at.fields
    Object.defineProperty(at, "fields", { enumerable: true, get: () => (reads++, inner) })
    at = inner["inner"]?.schema
  }
  pruneDefaults(schema)
  expect(reads).toBeLessThan(1000)
})
