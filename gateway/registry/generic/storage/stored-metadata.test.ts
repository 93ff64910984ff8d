import { expect, test } from "vitest"
import { parseJson } from "../../../../apimachinery/schema/exact-integers.ts"
import { oddTexts, randomAny } from "../../../../apimachinery/schema/testing/random-object.ts"
import { createRandom, pick, seedOf } from "../../../../apimachinery/testing/random.ts"
import type { Json, KubeObject } from "../../../../apimachinery/object.ts"
import { encodeStored } from "./stored-form.ts"
import { StoredText, StoredValue } from "./stored-value.ts"

const labelsOf = (metadata: object) =>
  new StoredText(
    { value: encodeStored({ kind: "Thing", apiVersion: "v1", metadata, data: { labels: { no: "no" } } }) },
    1,
  ).labels()

test.each([
  ["first", { labels: { a: "b" }, name: "x" }],
  [
    "at the end, after text that looks like labels",
    { name: '"labels":{"a":"no"}', annotations: { labels: "{", "x\\": '\\"' }, labels: { a: "b" } },
  ],
  ["after labels of nested objects", { managedFields: [{ labels: { a: "no" } }], labels: { a: "b" } }],
  ["when strings end with a backslash", { name: "\\", labels: { a: "b" } }],
])("labels are found %s", (_where, metadata) => {
  expect(labelsOf(metadata)).toEqual({ a: "b" })
})

test.each([
  ["there are none", { name: "labels" }],
  ["they are empty", { labels: {} }],
  ["only nested objects have labels", { annotations: { labels: "x" }, ownerReferences: [{ labels: { a: "no" } }] }],
])("none are found when %s", (_what, metadata) => {
  expect(labelsOf(metadata)).toEqual({})
})

test("stored labels and metadata equal those of the parsed object", () => {
  const seed = seedOf()
  const random = createRandom(seed)
  for (let round = 0; round < 500; round++) {
    const labels = Object.fromEntries(
      Array.from({ length: random(4) }, () => [pick(random, oddTexts), pick(random, oddTexts)]),
    )
    const before = { [pick(random, oddTexts)]: randomAny(random) }
    const metadata = { ...before, name: "x", ...(random(4) === 0 ? {} : { labels }), after: randomAny(random) as Json }
    const rest = random(4) === 0 ? {} : { [pick(random, oddTexts)]: randomAny(random) }
    const object = { ...rest, kind: "T", apiVersion: "v1", metadata } as unknown as KubeObject
    const value = new StoredValue(new StoredText({ value: encodeStored(object) }, 1))
    const parsed = value.copy().metadata
    expect(value.labels(), `SEED=${seed}, round ${round}`).toEqual(parsed.labels ?? {})
    expect(parseJson(value.metadataBytes()), `SEED=${seed}, round ${round}`).toEqual(parsed)
  }
})
