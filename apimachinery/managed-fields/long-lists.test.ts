// Sets of long lists and large maps are made in steps. They are those of short ones, in the same order.

import { expect, test } from "vitest"
import type { Json } from "../object.ts"
import { inSteps, mostAtOnce, type Steps } from "../steps.ts"
import { apply } from "./apply.ts"
import { compare, type Comparison, comparing } from "./compare.ts"
import { describingConflicts } from "./conflicts.ts"
import { type FieldSet, isEmpty, leaf, unionOf } from "./field-set.ts"
import { fieldsOf, gatheringFields } from "./fields-of.ts"
import { type Managers, managersOf } from "./managers.ts"
import { fieldElement, self } from "./path-element.ts"
import { type Fields, typeOfSchema } from "./testing/state.ts"

const text = { type: "string" }
const type = typeOfSchema({
  type: "object",
  properties: {
    items: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: { type: "object", properties: { name: text, texts: { type: "object", additionalProperties: text } } },
    },
    set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "number" } },
    map: { type: "object", additionalProperties: text },
  },
} as Fields)

const count = 6000
/** All numbers below `count`, in another order. */
const numbers = Array.from({ length: count }, (_, index) => (index * 7919) % count)
/** Each fifth item has no fields of its own, and each seventh occurs twice. */
const items = numbers.flatMap((number) => {
  const item = { name: `n${number}`, ...(number % 5 === 0 ? {} : { texts: { [`t${number % 3}`]: "x" } }) }
  return number % 7 === 0 ? [item, item] : [item]
})
const lists: Record<string, { whole: Json; parts: Json[] }> = {
  items: {
    whole: { items },
    parts: [...new Set(items)].map((item) => ({ items: Number(item.name.slice(1)) % 7 === 0 ? [item, item] : [item] })),
  },
  set: { whole: { set: numbers }, parts: numbers.map((number) => ({ set: [number] })) },
  map: {
    whole: { map: Object.fromEntries(numbers.map((number) => [`k${number}`, "x"])) },
    parts: numbers.map((number) => ({ map: { [`k${number}`]: "x" } })),
  },
}

/** With the number of steps. */
async function counted(steps: Steps<Comparison>): Promise<{ comparison: Comparison; pauses: number }> {
  const { result, pauses } = await run(steps)
  return { comparison: result, pauses }
}

async function run<T>(steps: Steps<T>): Promise<{ result: T; pauses: number }> {
  let pauses = 0
  const result = await inSteps(steps, () => {
    pauses++
    return undefined
  })
  return { result, pauses }
}

const textOf = (set: FieldSet): string => JSON.stringify(set)
const emptied = (value: Json): Json =>
  Object.fromEntries(Object.entries(value ?? {}).map(([name, given]) => [name, Array.isArray(given) ? [] : {}]))

test.each(Object.entries(lists))("%s that are added or removed", async (_name, { whole, parts }) => {
  const wanted = (before: (part: Json) => Json): string =>
    textOf(unionOf(parts.map((part) => compare(before(part), part, type).added)))

  const added = await counted(comparing({}, whole, type))
  expect(added.pauses).toBeGreaterThan(1)
  expect(textOf(added.comparison.added)).toBe(wanted(() => ({})))
  const removed = await counted(comparing(whole, {}, type))
  expect(removed.pauses).toBeGreaterThan(1)
  expect(removed.comparison.removed).toEqual(added.comparison.added)
  expect(textOf((await counted(comparing(emptied(whole), whole, type))).comparison.added)).toBe(wanted(emptied))
})

test.each(Object.entries(lists))("the fields of %s", async (_name, { whole, parts }) => {
  const { result, pauses } = await run(gatheringFields(whole, type))
  expect(pauses).toBeGreaterThan(count / mostAtOnce)
  expect(textOf(result)).toBe(textOf(unionOf(parts.map((part) => fieldsOf(part, type)))))
  const known = JSON.parse(textOf(result)) as FieldSet
  expect((await run(gatheringFields(whole, type, known))).result).toBe(known)
})

test("the fields of large maps in items of a long list, of which each is a step of its own", async () => {
  const texts = Object.fromEntries(numbers.map((number) => [`t${number}`, "x"]))
  const small = numbers.slice(4).map((number) => ({ name: `n${number}` }))
  const large = numbers.slice(0, 4).map((number) => ({ name: `n${number}`, texts: { ...texts } }))
  const { result, pauses } = await run(gatheringFields({ items: [...small, ...large] }, type))
  expect(pauses).toBeGreaterThan((count * (1 + large.length)) / mostAtOnce)
  const each = [{ items: small }, ...large.map((item) => ({ items: [item] }))]
  expect(textOf(result) === textOf(unionOf(each.map((part) => fieldsOf(part, type))))).toBe(true)
})

test("of fields that are partly known, the known lists and maps are reused", async () => {
  const all = { items, set: numbers, map: lists["map"]?.whole as Fields }
  const known = JSON.parse(textOf(fieldsOf({ ...all, set: numbers.slice(1) }, type))) as FieldSet
  const { result } = await run(gatheringFields(all, type, known))
  expect(textOf(result)).toBe(textOf(fieldsOf(all, type)))
  expect([result["f:items"] === known["f:items"], result["f:set"] === known["f:set"]]).toEqual([true, false])
  expect(textOf(result["f:map"] ?? {}) === textOf(fieldsOf(all, type)["f:map"] ?? {})).toBe(true)
})

test("a value that is at two places has the fields of each", async () => {
  const by = (key: string): Fields => ({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [key],
    items: { type: "object", properties: { a: text, b: text } },
  })
  const both = typeOfSchema({ type: "object", properties: { first: by("a"), second: by("b") } } as Fields)
  const value = numbers.map((number) => ({ a: `a${number}`, b: `b${number}` }))
  const { result } = await run(gatheringFields({ first: value, second: value }, both))
  const { "f:first": first, "f:second": second } = result
  expect(Object.keys(first ?? {})).toEqual(numbers.map((number) => `k:{"a":"a${number}"}`).toSorted())
  expect(Object.keys(second ?? {})).toEqual(numbers.map((number) => `k:{"b":"b${number}"}`).toSorted())
})

test("applies of long lists pause while fields are gathered, also of what is pruned", async () => {
  const writer = { manager: "a", apiVersion: "v1", subresource: "", now: "2026-01-01T00:00:00Z" }
  const versions = { typeIn: () => type, convert: (object: Json) => object }
  const other = { ...writer, manager: "b", operation: "Update", fieldsType: "FieldsV1", fieldsV1: leaf } as const
  let pauses = 0
  const pause = (): undefined => void pauses++
  const applying = (live: Json, managers: Managers, configuration: Json) =>
    apply({ live, blank: {}, managers, configuration, writer, force: false, versions, reset: () => undefined, pause })
  const first = await applying({ set: [] }, managersOf([other]), { set: numbers })
  const stepsOfFields = count / mostAtOnce
  expect(pauses).toBeGreaterThan(5 * stepsOfFields)
  pauses = 0
  const { object } = await applying(first.object ?? {}, first.managers, { set: numbers.slice(0, 10) })
  expect(object).toEqual({ set: numbers.slice(0, 10) })
  expect(pauses).toBeGreaterThan(8 * stepsOfFields)
})

/** What is between two states of many items, each of which is in one of them, in both, or in both and different. */
const halves = (number: number): { before: boolean; after: boolean; text: string } => ({
  before: number % 3 !== 0,
  after: number % 4 !== 0,
  text: number % 5 === 0 ? "changed" : "x",
})
const stateOf = (which: "before" | "after", all: readonly number[]): { [name: string]: Json } => {
  const present = all.filter((number) => halves(number)[which])
  const text = (number: number): string => (which === "after" ? halves(number).text : "x")
  return {
    items: present.map((number) => ({ name: `n${number}`, texts: { [`t${number % 3}`]: text(number) } })),
    set: present,
    map: Object.fromEntries(present.map((number) => [`k${number}`, text(number)])),
  }
}

test.each(["items", "set", "map"])("%s some of which are added, removed or changed", async (name) => {
  const only = (which: "before" | "after", all: readonly number[]): Json => ({
    [name]: stateOf(which, all)[name] ?? null,
  })
  const both = numbers.filter((number) => halves(number).before || halves(number).after)
  for (const all of [both, both.filter((number) => halves(number).before && halves(number).after)]) {
    const { comparison, pauses } = await counted(comparing(only("before", all), only("after", all), type))
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(all.length / mostAtOnce))
    const parts = all.map((number) => compare(only("before", [number]), only("after", [number]), type))
    for (const which of ["added", "modified", "removed"] as const) {
      // Of one item alone the list or the map itself is added or removed with it.
      const sets = parts.map((part) => part[which]).filter((set) => !isEmpty(set))
      const { [fieldElement(name)]: expected = leaf } = unionOf(sets)
      const { [fieldElement(name)]: found = leaf } = comparison[which]
      expect(textOf(found), which).toBe(textOf(without(expected, self)))
    }
  }
})

const without = (set: FieldSet, element: string): FieldSet =>
  Object.fromEntries(Object.entries(set).filter(([name]) => name !== element))

test("very many conflicts are described in steps", async () => {
  const manager = { manager: "a", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} } as const
  const managers = managersOf([manager])
  const fields = fieldsOf(lists["items"]?.whole ?? null, type)
  const conflicts = new Map([...managers.keys()].map((key) => [key, fields]))
  const { result, pauses } = await run(describingConflicts(conflicts, managers))
  const { causes = [] } = result.status.details ?? {}
  expect(causes.length).toBeGreaterThan(count)
  expect(new Set(causes.map(({ field }) => field)).size).toBe(causes.length)
  expect(pauses).toBe(Math.floor(causes.length / mostAtOnce))
})
