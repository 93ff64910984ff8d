// Random sequences of applies and updates, with the objects, managers, fields and orders that structured-merge-diff computes for them.
// generate/ writes sequences.jsonl.

import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import type { FieldSet } from "./field-set.ts"
import { type Fields, State, typeOfSchema } from "./testing/state.ts"

interface Step {
  op: "apply" | "update"
  manager: string
  force?: boolean
  object: Fields
  conflict?: string[]
  invalid?: boolean
  live?: Fields
  managers?: Record<string, FieldSet>
}

const text = { type: "string" }
const texts = { type: "object", additionalProperties: text }
const set = (items: Fields): Fields => ({ type: "array", "x-kubernetes-list-type": "set", items })
const inner: Fields = { type: "object", properties: { a: text, b: text, set: set(text), map: texts } }
const keyed = (keys: string[], properties: Fields): Fields => ({
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
  items: { type: "object", properties },
})

const type = typeOfSchema({
  type: "object",
  properties: {
    text,
    number: { type: "number" },
    flag: { type: "boolean" },
    struct: inner,
    atomicStruct: { type: "object", properties: { a: text, b: text }, "x-kubernetes-map-type": "atomic" },
    map: texts,
    atomicMap: { ...texts, "x-kubernetes-map-type": "atomic" },
    mapOfStructs: { type: "object", additionalProperties: inner },
    set: set(text),
    numbers: set({ type: "number" }),
    list: { type: "array", items: inner },
    items: keyed(["name"], { name: text, value: text, struct: inner }),
    ports: keyed(["port", "protocol"], { port: { type: "number" }, protocol: { ...text, default: "TCP" }, name: text }),
    free: { "x-kubernetes-preserve-unknown-fields": true },
  },
})

const sequences = readFileSync(new URL("./sequences.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")

test.each(sequences.map((line, index) => [index, JSON.parse(line) as Step[]] as const))(
  "sequence %i has the result of upstream's library",
  async (_index, steps) => {
    const state = new State(type)
    for (const step of steps) {
      if (step.op === "update") state.update(step.manager, step.object)
      else {
        const outcome = await state.apply(step.manager, step.object, { force: step.force ?? false })
        if (step.invalid === true) expect(outcome).toMatch(/^invalid/)
        else expect([...new Set(outcome.split(" "))].sort()).toEqual([...new Set(step.conflict ?? ["ok"])].sort())
      }
      expect({ after: step, live: state.live }).toEqual({ after: step, live: step.live ?? {} })
      // Compared as text, because the order matters.
      const wanted = Object.entries(step.managers ?? {}).map(([name, fields]) => `${name} ${JSON.stringify(fields)}`)
      const got = Object.entries(state.sets()).map(([name, fields]) => `${name} ${JSON.stringify(fields)}`)
      expect({ after: step, managers: got.sort() }).toEqual({ after: step, managers: wanted.sort() })
    }
  },
)
