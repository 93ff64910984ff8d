import { describe, expect, test } from "vitest"
import type { Json } from "../object.ts"
import { chance, createRandom, pick, seedOf } from "../testing/random.ts"
import type { FieldSet } from "./field-set.ts"
import { fieldsOf } from "./fields-of.ts"
import { type Fields, State, type TestVersion, typeOfSchema } from "./testing/state.ts"
import { listOf, object, text, type } from "./testing/schema.ts"

type Step =
  | ["apply" | "force", manager: string, configuration: Fields, outcome?: string]
  | ["update", manager: string, object: Fields]

interface Scenario {
  steps: Step[]
  live: Fields
  owned: Record<string, string[]>
}

const scenarios: Record<string, Scenario> = {
  "a leaf applied with equal values is owned by both managers": {
    steps: [
      ["apply", "a", { name: "x" }],
      ["apply", "b", { name: "x" }],
    ],
    live: { name: "x" },
    owned: { a: [".name"], b: [".name"] },
  },
  "a leaf applied with different values is a conflict, and nothing changes": {
    steps: [
      ["apply", "a", { name: "x" }],
      ["apply", "b", { name: "y" }, ".name"],
    ],
    live: { name: "x" },
    owned: { a: [".name"] },
  },
  "force transfers the ownership of a conflict": {
    steps: [
      ["apply", "a", { name: "x", number: 1 }],
      ["force", "b", { name: "y" }],
    ],
    live: { name: "y", number: 1 },
    owned: { a: [".number"], b: [".name"] },
  },
  "a field that is no longer applied is removed if no other manager owns it": {
    steps: [
      ["apply", "a", { name: "x", number: 1 }],
      ["apply", "b", { number: 1 }],
      ["apply", "a", {}],
    ],
    live: { number: 1 },
    owned: { b: [".number"] },
  },
  "a field changed by an update is kept when its previous applier removes it": {
    steps: [
      ["apply", "a", { name: "x" }],
      ["update", "u", { name: "y" }],
      ["apply", "a", {}],
    ],
    live: { name: "y" },
    owned: { u: [".name"] },
  },
  "an update owns what it changes, without conflicts": {
    steps: [
      ["apply", "a", { name: "x", number: 1 }],
      ["update", "u", { name: "y", number: 1 }],
      ["apply", "a", { name: "x", number: 1 }, ".name"],
    ],
    live: { name: "y", number: 1 },
    owned: { a: [".number"], u: [".name"] },
  },
  "nested fields are removed one by one, and their parents with the last one": {
    steps: [
      ["apply", "a", { nested: { a: { b: { c: "1" } } } }],
      ["apply", "b", { nested: { a: { b: { d: "1" } } } }],
      ["apply", "a", {}],
    ],
    live: { nested: { a: { b: { d: "1" } } } },
    owned: { b: [".nested.a.b.d"] },
  },
  "members of a set have separate owners, and keep the applied order": {
    steps: [
      ["apply", "a", { set: ["a", "c"] }],
      ["apply", "b", { set: ["c", "b"] }],
      ["apply", "a", { set: ["a"] }],
    ],
    live: { set: ["a", "c", "b"] },
    owned: { a: ['.set[="a"]'], b: ['.set[="b"]', '.set[="c"]'] },
  },
  "items of a keyed list merge by key": {
    steps: [
      ["apply", "a", { items: [{ name: "x", value: "1" }, { name: "y" }] }],
      ["apply", "b", { items: [{ name: "y", value: "2" }] }],
      ["apply", "a", { items: [{ name: "x", value: "3" }] }],
    ],
    live: {
      items: [
        { name: "x", value: "3" },
        { name: "y", value: "2" },
      ],
    },
    owned: {
      a: ['.items[name="x"]', '.items[name="x"].name', '.items[name="x"].value'],
      b: ['.items[name="y"]', '.items[name="y"].name', '.items[name="y"].value'],
    },
  },
  "an item is removed by its only owner together with fields added by updates": {
    steps: [
      ["apply", "a", { items: [{ name: "x" }] }],
      ["update", "u", { items: [{ name: "x", value: "1" }] }],
      ["apply", "a", {}],
    ],
    live: { items: null },
    owned: {},
  },
  "a missing key has its default value": {
    steps: [
      ["apply", "a", { ports: [{ port: 80, name: "x" }] }],
      ["apply", "b", { ports: [{ port: 80, protocol: "TCP", name: "y" }] }, '.ports[port=80,protocol="TCP"].name'],
      ["apply", "b", { ports: [{ port: 80, protocol: "UDP", name: "y" }] }],
    ],
    live: {
      ports: [
        { port: 80, name: "x" },
        { port: 80, protocol: "UDP", name: "y" },
      ],
    },
    owned: {
      a: [
        '.ports[port=80,protocol="TCP"]',
        '.ports[port=80,protocol="TCP"].name',
        '.ports[port=80,protocol="TCP"].port',
      ],
      b: [
        '.ports[port=80,protocol="UDP"]',
        '.ports[port=80,protocol="UDP"].name',
        '.ports[port=80,protocol="UDP"].port',
        '.ports[port=80,protocol="UDP"].protocol',
      ],
    },
  },
  "atomic lists and maps have one owner": {
    steps: [
      ["apply", "a", { atomic: ["x"], selector: { app: "x" } }],
      ["apply", "b", { atomic: ["x", "y"], selector: { tier: "y" } }, ".atomic .selector"],
      ["force", "b", { selector: { tier: "y" } }],
    ],
    live: { atomic: ["x"], selector: { tier: "y" } },
    owned: { a: [".atomic"], b: [".selector"] },
  },
  "an update may repeat an item, and an apply makes it unique": {
    steps: [
      ["update", "u", { set: ["a", "b", "a"] }],
      ["force", "a", { set: ["a"] }],
    ],
    live: { set: ["a", "b"] },
    owned: { a: ['.set[="a"]'], u: [".set", '.set[="b"]'] },
  },
  "a repeated item in a configuration is an error": {
    steps: [["apply", "a", { set: ["a", "a"] }, 'invalid: .set: duplicate entries for key [="a"]']],
    live: {},
    owned: {},
  },
  "an unknown field is an error": {
    steps: [["apply", "a", { bogus: 1 }, "invalid: .bogus: field not declared in schema"]],
    live: {},
    owned: {},
  },
  "an item without a key is an error": {
    steps: [
      [
        "apply",
        "a",
        { items: [{ value: "x" }] },
        'invalid: .items: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
      ],
    ],
    live: {},
    owned: {},
  },
  "an object that lost all managers is owned by its first applier": {
    steps: [
      ["update", "u", { name: "x", labels: { a: "1" } }],
      ["update", "u", {}],
      ["apply", "a", { name: "x" }],
    ],
    live: { name: "x" },
    owned: { a: [".name"] },
  },
  "names of prototype properties are ordinary names": {
    steps: [
      ["apply", "a", { labels: { constructor: "1", toString: "2" } }],
      ["apply", "b", JSON.parse('{"labels":{"__proto__":"3"}}') as Fields],
      ["apply", "a", { labels: { constructor: "1" } }],
    ],
    live: JSON.parse('{"labels":{"constructor":"1","__proto__":"3"}}') as Fields,
    owned: { a: [".labels.constructor"], b: [".labels.__proto__"] },
  },
}

test.each(Object.entries(scenarios))("%s", async (_name, { steps, live, owned }) => {
  const state = new State(type)
  for (const step of steps) {
    const [what, manager, given] = step
    if (what === "update") state.update(manager, given)
    else expect(await state.apply(manager, given, { force: what === "force" })).toBe(step[3] ?? "ok")
  }
  expect(state.live).toEqual(live)
  expect(Object.getPrototypeOf(state.live["labels"] ?? {})).toBe(Object.prototype)
  expect(state.owned()).toEqual(owned)
})

describe("versions", () => {
  /** The field has another name in the other version. */
  const second: TestVersion = {
    type: typeOfSchema(object({ title: text, number: { type: "integer" } })),
    from: ({ name, ...rest }) => (name === undefined ? rest : { ...rest, title: name }),
    back: ({ title, ...rest }) => (title === undefined ? rest : { ...rest, name: title }),
  }

  test("of two managers are compared in the version of each", async () => {
    const state = new State(type, { v2: second })
    await state.apply("a", { name: "x", number: 1 })
    expect(await state.apply("b", { title: "y" }, { version: "v2" })).toBe(".name")
    expect(await state.apply("b", { title: "y" }, { version: "v2", force: true })).toBe("ok")
    expect(state.live).toEqual({ name: "y", number: 1 })
    expect(state.owned()).toEqual({ a: [".number"], b: [".title"] })
  })

  test("can change between two applies of a manager", async () => {
    const state = new State(type, { v2: second })
    await state.apply("a", { name: "x", number: 1 })
    expect(await state.apply("a", { number: 1 }, { version: "v2" })).toBe("ok")
    expect(state.live).toEqual({ number: 1 })
    expect(state.owned()).toEqual({ a: [".number"] })
  })

  test("that are no longer served lose their managers, but no fields of the object", async () => {
    const state = new State(type, { v2: second })
    await state.apply("a", { title: "x" }, { version: "v2" })
    state.versions.delete("v2")
    expect(await state.apply("b", { name: "y" })).toBe("ok")
    expect(state.owned()).toEqual({ b: [".name"] })
    state.versions.set("v2", second)
    await state.apply("a", { number: 3 }, { version: "v2" })
    state.versions.delete("v2")
    expect(await state.apply("a", { name: "y" })).toBe("ok")
    expect(state.live).toEqual({ name: "y", number: 3 })
  })
})

describe("a changed type", () => {
  const granular = typeOfSchema(object({ map: object({ a: text, b: text }), list: listOf(text, "set") }))
  const atomic = typeOfSchema(
    object({
      map: object({ a: text, b: text }, { "x-kubernetes-map-type": "atomic" }),
      list: listOf(text, "atomic"),
    }),
  )

  test("to atomic makes the owner of a part the owner of the whole", async () => {
    const state = new State(granular)
    await state.apply("a", { map: { a: "1" }, list: ["x"] })
    await state.apply("b", { map: { b: "1" } })
    const same = (given: Fields): Fields => given
    state.versions.set("v1", { type: atomic, from: same, back: same })
    state.update("u", { map: { a: "1", b: "1" }, list: ["x"] })
    expect(state.owned()).toEqual({ a: [".list", ".map"], b: [".map"] })
    expect(await state.apply("b", { map: { b: "2" } })).toBe(".map")
  })
})

describe("the fields of a configuration", () => {
  const seed = seedOf()
  const random = createRandom(seed)
  const some = (): string[] => ["b", "a", "c"].filter(() => chance(random, 0.6))
  const configuration = (): Json => ({
    ...(chance(random, 0.5) ? { name: pick(random, ["x", null]) } : {}),
    set: some(),
    labels: Object.fromEntries(some().map((name) => [name, "x"])),
    items: some().map((name) => ({
      name,
      ...pick(random, [{ value: "x" }, { labels: {} }, { labels: { a: "x" } }, { value: "x", labels: { a: "x" } }]),
    })),
    selector: { app: "x" },
    nested: { a: chance(random, 0.5) ? { b: {} } : { b: { c: "x" } } },
  })

  test(`are the same with and without known sets, and reuse their parts (SEED=${seed})`, () => {
    for (let round = 0; round < 300; round++) {
      const [one, other] = [configuration(), configuration()]
      const plain = fieldsOf(one, type)
      expect(JSON.stringify(fieldsOf(one, type, fieldsOf(other, type)))).toBe(JSON.stringify(plain))
      const stored = JSON.parse(JSON.stringify(plain)) as FieldSet
      expect(fieldsOf(one, type, stored)).toBe(stored)
      const { "f:nested": nested, ...rest } = stored
      expect(fieldsOf(one, type, { "f:nested": nested ?? {}, "f:other": rest })["f:nested"]).toBe(nested)
    }
  })
})
