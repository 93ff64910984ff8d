// Custom resources sent with the apiVersion or kind of another than the path's: they are read with the fields of that one, of which
// unknown ones are told, and then refused.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  type RequestStep,
  type Scenario,
} from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

const group = "r@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`

export function customOtherVersionCases(): Scenario[] {
  return [
    { name: "a custom resource is sent as one of another version", steps: steps() },
    { name: "a custom resource is patched as one of another version", anyOrder: true, steps: patched() },
  ]
}

const object = (properties: object): object => ({ type: "object", properties })
const text = { type: "string" }
const schema = (properties: object): object => ({ schema: { openAPIV3Schema: object(properties) } })

const versions = [
  { name: "v1", served: true, storage: true, ...schema({ spec: object({ a: text }) }), subresources: { status: {} } },
  { name: "v2", served: false, storage: false, ...schema({ spec: object({ b: text }) }) },
  { name: "v3", served: true, storage: false, ...schema({ other: object({ b: text }) }) },
]
const fields = { spec: { a: "x", b: "x", c: 1 }, other: { b: "x", d: 1 }, more: 1 }

const others: readonly (readonly [string, object])[] = [
  ...["v2", "v3", "v4"].flatMap((version): [string, object][] => {
    const apiVersion = `${group}/${version}`
    return [
      [version, { apiVersion }],
      [`${version} with many fields`, { apiVersion, ...fields }],
      [`${version} of another kind`, { apiVersion, kind: "Other", ...fields }],
      [`${version} with odd metadata`, { apiVersion, metadata: { name: "a", labels: 5, odd: 1 } }],
    ]
  }),
  ["another group", { apiVersion: "other.example.com/v1", ...fields }],
  ["another kind", { kind: "Other", ...fields }],
  ["a list", { kind: "ThingList", items: [] }],
]

function steps(): RequestStep[] {
  const thing = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" }, spec: { a: "x" } }
  const kept = { name: "a", resourceVersion: "@{made.metadata.resourceVersion}" }
  return [
    { ...post(definitions, definitionOf(group, {}, {}, { versions }) as Json), label: "WRITE definition" },
    ...["v1", "v3"].map((version) => get(things.replace("/v1/", `/${version}/`), { untilCode: 200 })),
    post(things, thing, { save: "made" }),
    ...others.flatMap(([what, other]) =>
      ["Strict", "Warn", "Ignore"].flatMap((mode) => {
        const query = `dryRun=All&fieldValidation=${mode}`
        const label = (verb: string): { label: string } => ({ label: `${verb} ${what}, ${mode}` })
        return [
          post(`${things}?${query}`, { ...thing, ...other } as Json, label("POST")),
          put(`${things}/a?${query}`, { ...thing, metadata: kept, ...other } as Json, label("PUT")),
          put(`${things}/a/status?${query}`, { ...thing, metadata: kept, ...other } as Json, label("PUT status")),
        ]
      }),
    ),
  ]
}

const unlike = [
  {
    name: "v1",
    served: true,
    storage: true,
    ...schema({ spec: object({ a: text, d: { ...text, default: "one" } }), status: object({ a: text }) }),
    subresources: { status: {} },
  },
  {
    name: "v2",
    served: false,
    storage: false,
    ...schema({ spec: object({ b: text, e: { ...text, default: "two" } }), status: object({ b: text }) }),
  },
  {
    name: "v3",
    served: true,
    storage: false,
    ...schema({ spec: object({ b: text }), other: object({ b: text, f: { type: "integer", default: 3 } }) }),
  },
  {
    name: "v4",
    served: false,
    storage: false,
    ...schema({ spec: { ...object({ z: { type: "integer", maximum: 3 } }), required: ["z"] } }),
  },
]

const changes: readonly Record<string, Json>[] = [
  {},
  { spec: { a: "x", b: "x", z: 1 } },
  { spec: { z: 9 } },
  { spec: null },
  { other: { b: "y" } },
  { bogus: 1 },
  { spec: { a: 5 } },
  { spec: { b: 5 } },
  { metadata: { labels: { a: "b" } } },
]

function patched(): RequestStep[] {
  const thing: Json = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" }, spec: { a: "x" } }
  const apiVersions = ["v2", "v3", "v4", "v5"].map((version) => `${group}/${version}`)
  return [
    { ...post(definitions, definitionOf(group, {}, {}, { versions: unlike }) as Json), label: "WRITE definition" },
    ...["v1", "v3"].map((version) => get(things.replace("/v1/", `/${version}/`), { untilCode: 200 })),
    post(things, thing),
    ...apiVersions.flatMap((apiVersion) =>
      changes.flatMap((change) => {
        const body = { apiVersion, ...change }
        const operations = Object.entries(body).map(([field, value]) => ({ op: "add", path: `/${field}`, value }))
        const about = `${apiVersion} ${JSON.stringify(change)}`
        const dry = ["", "Strict", "Ignore"].flatMap((validation) =>
          ["", "/status"].flatMap((part) => {
            const path = `${things}/a${part}?dryRun=All&fieldManager=m&fieldValidation=${validation}`
            const label = (verb: string): { label: string } => ({ label: `${verb}${part} ${validation} ${about}` })
            return [
              patch(path, mergePatch, body, label("MERGE")),
              patch(path, jsonPatch, operations, label("JSON")),
              patch(`${path}&force=true`, applyPatch, { ...body, kind: "Thing" }, label("APPLY")),
            ]
          }),
        )
        const whole = patch(`${things}/a?fieldManager=n`, mergePatch, body, { label: `MERGE ${about} for good` })
        return [...dry, whole, get(`${things}/a`, { label: `GET after ${about}` })]
      }),
    ),
  ]
}
