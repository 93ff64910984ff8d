// Custom resources sent with the apiVersion or kind of another than the path's: they are read with the fields of that one, of which
// unknown ones are told, and then refused.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

const group = "r@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`

export function customOtherVersionCases(): Scenario[] {
  return [{ name: "a custom resource is sent as one of another version", steps: steps() }]
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
