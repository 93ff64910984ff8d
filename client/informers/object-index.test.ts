import { expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { createRandom, pick } from "../../apimachinery/testing/random.ts"
import { ObjectIndex } from "./object-index.ts"

const object = (namespace: string, name: string, label: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace, name, labels: { label } },
})

/** Two of these are large enough to be folded. */
const larger = (namespace: string, name: string, label: string): KubeObject => ({
  ...object(namespace, name, label),
  data: { text: "x".repeat(1_000) },
})

const textOf = (value: KubeObject): string => JSON.stringify(value)

const byLabel = { label: ({ metadata }: KubeObject) => Object.values(metadata.labels ?? {}) }

test("an empty index returns nothing and knows its indexes", () => {
  const objects = new ObjectIndex(byLabel)
  expect([objects.size, objects.list(), objects.list("a"), objects.get("a", "b")]).toEqual([0, [], [], undefined])
  expect(objects.byIndex("label", "x")).toEqual([])
  expect(() => objects.byIndex("other", "x")).toThrow('no index "other"')
  expect(objects.delete("a", "b")).toBeUndefined()
})

test("two empty indexes do not share later objects", () => {
  const one = new ObjectIndex(byLabel)
  const other = new ObjectIndex(byLabel)
  const first = object("a", "b", "x")
  one.set(first)
  expect(one.byIndex("label", "x")).toEqual([first])
  expect([other.size, other.list(), other.byIndex("label", "x")]).toEqual([0, [], []])
})

test("an object is found by its current values only", () => {
  const objects = new ObjectIndex(byLabel)
  objects.set(object("a", "b", "x"))
  const changed = object("a", "b", "y")
  expect(objects.set(changed)).toEqual(object("a", "b", "x"))
  expect(objects.byIndex("label", "x")).toEqual([])
  expect(objects.byIndex("label", "y")).toEqual([changed])
  expect(objects.delete("a", "b")).toBe(changed)
  expect([objects.size, objects.list(), objects.byIndex("label", "y")]).toEqual([0, [], []])
})

test("folded objects are found unchanged and unfolded on access", () => {
  const objects = new ObjectIndex(byLabel)
  for (const name of ["b", "c"]) objects.set(larger("a", name, "x"))
  objects.set(larger("other", "b", "y"))
  const asks: [string, () => unknown][] = [
    ["by name", () => objects.get("a", "b")],
    ["by index", () => objects.byIndex("label", "x")],
    ["a namespace", () => objects.list("a")],
    ["all", () => objects.list()],
  ]
  for (const [what, ask] of asks) {
    const before = ask()
    objects.fold("a")
    expect(objects.folded(), what).toEqual(["a"])
    expect([objects.size, objects.get("other", "b"), objects.byIndex("label", "y").length], what).toEqual([
      3,
      larger("other", "b", "y"),
      1,
    ])
    expect(objects.folded(), what).toEqual(["a"])
    expect(ask(), what).toEqual(before)
    expect(objects.folded(), what).toEqual([])
  }
  expect(Object.isFrozen(objects.get("a", "b")?.metadata.labels)).toBe(true)
})

test("nothing is folded twice, if missing, too small or too large", () => {
  const objects = new ObjectIndex()
  const foldedWith = (text: string): string[] => {
    objects.set({ ...object("a", "b", "x"), data: { text } })
    objects.fold("a")
    objects.fold("a")
    return objects.folded()
  }
  objects.fold("a")
  expect(objects.folded()).toEqual([])
  expect(foldedWith("little")).toEqual([])
  expect(foldedWith("x".repeat(3_000))).toEqual(["a"])
  expect(objects.list()).toEqual([{ ...object("a", "b", "x"), data: { text: "x".repeat(3_000) } }])
  expect(foldedWith("x".repeat(300_000))).toEqual([])
})

test("randomly folded, an index returns the same as one that is never folded", () => {
  const seed = Date.now()
  const random = createRandom(seed)
  const [folding, plain] = [new ObjectIndex(byLabel), new ObjectIndex(byLabel)]
  const place = (): [string, string] => [pick(random, ["a", "b", "c"]), pick(random, ["1", "2", "3", "4"])]
  const ask = (index: ObjectIndex<KubeObject>, label: string): unknown => [
    index.size,
    index.list("a").map(textOf).toSorted(),
    index.byIndex("label", label).map(textOf).toSorted(),
    index.list("c").length,
  ]
  for (let step = 0; step < 2_000; step++) {
    const [namespace, name] = place()
    const label = pick(random, ["x", "y", "z"])
    const what = `seed ${seed}, step ${step}`
    const steps = {
      fold: () => folding.fold(namespace),
      set: () => {
        const made = larger(namespace, name, label)
        expect(folding.set(made), what).toEqual(plain.set(made))
      },
      delete: () => expect(folding.delete(namespace, name), what).toEqual(plain.delete(namespace, name)),
      get: () => expect(folding.get(namespace, name), what).toEqual(plain.get(namespace, name)),
      ask: () => expect(ask(folding, label), what).toEqual(ask(plain, label)),
    }
    steps[pick(random, ["fold", "fold", "fold", "set", "set", "delete", "get", "ask"] as const)]()
  }
  expect(folding.list().map(textOf).toSorted(), `seed ${seed}`).toEqual(plain.list().map(textOf).toSorted())
})
