// Managers of fields as clients write them: entries without fields, in any order of times, in no version, and more than are kept.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

const maps = "/api/v1/namespaces/@{ns}/configmaps"

type Entry = { [field: string]: Json }

const entry = (more: Entry = {}): Entry => ({
  manager: "x",
  operation: "Update",
  apiVersion: "v1",
  fieldsType: "FieldsV1",
  fieldsV1: { "f:data": { "f:k": {} } },
  ...more,
})

/** Names of items, as others would write them. */
const oddElements: readonly string[] = [
  'k:{"b":1.50,"a":2}',
  'k:{ "a" : 1e3 }',
  'k:{"a":"<\\u00e9\\/>"}',
  'k:{"a":{"c":1,"b":null}}',
  "k:[1]",
  "v:1.0",
  "v:1e3",
  "v:1e400",
  "v:12345678901234567890123",
  "v:-0",
  'v: "<>"',
  'v:{"b":1,"a":[2.50]}',
  "v:",
  "i:01",
  "i:+1",
  "i:1.0",
  "i:9999999999999999999",
  "f:",
  "f",
  "",
]

const given: Readonly<Record<string, Json>> = {
  "an empty list": [],
  "an empty entry": [{}],
  "an entry without a name": [{ manager: "" }],
  "two empty entries": [{}, {}],
  "no fields": [entry({ fieldsV1: {} })],
  "null for fields": [entry({ fieldsV1: null })],
  "one without fields": [entry(), entry({ manager: "y", fieldsV1: {} })],
  "unknown fields": [entry({ fieldsV1: { "x:data": {} } })],
  "the object itself": [entry({ fieldsV1: { ".": {} } })],
  "a field that is null": [entry({ fieldsV1: { "f:data": null } })],
  "a field that is a number": [entry({ fieldsV1: { "f:data": 1 } })],
  "an item without keys": [entry({ fieldsV1: { "f:data": { "k:{}": {}, "k:null": {} } } })],
  ...Object.fromEntries(
    oddElements.map((element) => [
      `fields with ${element}`,
      [entry({ fieldsV1: { "f:data": { [element]: {}, "f:k": {} } } })],
    ]),
  ),
  "keys in another order": [
    entry({
      fieldsV1: {
        "f:data": {
          "i:1": {},
          "v:1": {},
          'k:{"a":1}': {},
          "f:z": {},
          "f:a": { ".": {}, "f:b": {} },
          ".": {},
          "i:-1": {},
        },
      },
    }),
  ],
  "a version with two slashes": [entry({ apiVersion: "a/b/c" })],
  "another version": [entry({ apiVersion: "v9" })],
  "times before and after none": [
    entry({ time: "1960-01-01T00:00:00Z" }),
    entry({ manager: "y", time: "1980-01-01T00:00:00Z" }),
    entry({ manager: "z" }),
  ],
  "a time that is not set": [
    entry({ time: "0001-01-01T01:00:00+01:00" }),
    entry({ manager: "w" }),
    entry({ manager: "y", time: "1960-01-01T00:00:00Z" }),
  ],
  "times of other places": [
    entry({ time: "2020-01-01T00:00:00+02:00" }),
    entry({ manager: "y", time: "2019-12-31T23:00:00Z" }),
  ],
}

const at = (second: number): string => `2024-01-01T00:00:${String(second).padStart(2, "0")}Z`

/** Each manages one key. The oldest have these names. */
const managers = (count: number, names: readonly string[] = [], time = at): Json =>
  Array.from({ length: count }, (_, index) =>
    entry({
      manager: names[index] ?? `u${String(index).padStart(2, "0")}`,
      time: time(index),
      fieldsV1: { "f:data": { [`f:k${index}`]: {} } },
    }),
  )

const many: Readonly<Record<string, Json>> = {
  "as many as are kept": managers(10),
  "one too many": managers(11),
  "four too many": managers(14),
  "one too many, the second of them made of older ones": managers(11, ["b", "ancient-changes"]),
  "two too many, the second of them made of older ones": managers(12, ["b", "ancient-changes"]),
  "two too many, the third of them made of older ones": managers(12, ["b", "c", "ancient-changes"]),
  "two too many, the first of them made of older ones": managers(12, ["ancient-changes"]),
  "one too many at the same time": managers(11, ["B", "ancient-changes"], () => at(0)),
}

export function givenManagerCases(): Scenario[] {
  return [
    ...Object.entries(given).map(([name, managedFields]) => ({
      name: `managed fields are given: ${name}`,
      steps: giving(managedFields),
    })),
    ...Object.entries(many).map(([name, managedFields]) => ({
      name: `managers are given: ${name}`,
      steps: adding(managedFields),
    })),
  ]
}

/** Managers are sorted by the second of their writes, then by name: here in the same order, whenever a second ends. */
function giving(managedFields: Json): RequestStep[] {
  const map = (name: string, data: Json) => ({ metadata: { name, managedFields }, data }) as Json
  const patched = (manager: string, body: object): RequestStep =>
    patch(`${maps}/b?fieldManager=${manager}`, mergePatch, body as Json, { label: `PATCH by ${manager}` })
  return [
    post(`${maps}?fieldManager=m1`, map("a", { k: "v" })),
    post(`${maps}?fieldManager=m1`, { metadata: { name: "b" }, data: { k: "v" } }),
    put(`${maps}/b?fieldManager=m2`, map("b", { k: "v" })),
    put(`${maps}/b?fieldManager=m3`, map("b", { k: "w" })),
    patched("m4", { metadata: { managedFields } }),
    patched("m5", { metadata: { managedFields }, data: { q: "r" } }),
    get(`${maps}/b`, { headers: { accept: "application/vnd.kubernetes.protobuf" } }),
    put(`${maps}/b?fieldManager=m6`, { metadata: { name: "b" }, data: { k: "x" } }),
    patched("m7", { metadata: { labels: { a: "b" } } }),
  ]
}

function adding(managedFields: Json): RequestStep[] {
  const data = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, "v"]))
  const more = [{}, { z: "1" }, { z: "1", y: "2" }, { z: "1", y: "2", x: "3" }]
  return [
    post(maps, { metadata: { name: "a" }, data }),
    ...more.map((own, index) =>
      put(`${maps}/a?fieldManager=m${index}`, {
        metadata: { name: "a", ...(index === 0 ? { managedFields } : {}) },
        data: { ...data, ...own },
      }),
    ),
  ]
}
