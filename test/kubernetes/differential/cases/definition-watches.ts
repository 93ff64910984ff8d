// Watches of custom resources while their definition changes: they end, and clients open them again, as objects are served now.
// What does not affect objects ends no watch. Upstream ends them a second later, with events until then, so nothing is written
// after such a change.

import type { Json } from "../../../../apimachinery/object.ts"
import { asTable } from "../generate/life-scenarios.ts"
import { get, mergePatch, patch, post, remove, type Scenario, type Step, watch } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

const group = "w@{id}.example.com"
const things = (version = "v1"): string => `/apis/${group}/${version}/namespaces/@{ns}/things`
const own = `${definitions}/things.${group}`

const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true }
const version = (name: string, more: object = {}): object => ({
  name,
  served: true,
  storage: name === "v1",
  schema: { openAPIV3Schema: free },
  ...more,
})
const thing = (name: string, more: object = {}): Json =>
  ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name }, ...more }) as Json

const made: Step[] = [
  post(definitions, definitionOf(group, {}, {}, { versions: [version("v1"), version("v2")] }) as Json, {
    label: "WRITE definition",
  }),
  get(things(), { untilCode: 200 }),
  post(things(), thing("a", { size: 1 })),
]
const change = (label: string, body: Json, path = own): Step =>
  patch(path, mergePatch, body, { label: `WRITE ${label}` })
const isOver = { untilEnd: true }

export function definitionWatchCases(): Scenario[] {
  const changes: [string, Json][] = [
    [
      "schema",
      { spec: { versions: [version("v1", { schema: { openAPIV3Schema: { type: "object" } } }), version("v2")] } },
    ],
    ["columns", { spec: { versions: [version("v1", { additionalPrinterColumns: [column] }), version("v2")] } }],
    ["served versions", { spec: { versions: [version("v1"), version("v2", { served: false })] } }],
    ["subresources", { spec: { versions: [version("v1", { subresources: { status: {} } }), version("v2")] } }],
    ["names", { spec: { names: { shortNames: ["th"] } } }],
  ] as [string, Json][]
  return [
    ...changes.map(([what, body]) => ({
      name: `watches end when a definition has other ${what}`,
      steps: [...made, ...watched(), change(what, body)],
    })),
    { name: "watches end with their definition", steps: [...made, ...watched(), ...gone()] },
    { name: "watches go on when a definition changes in other ways", steps: [...made, ...unaffected()] },
    { name: "a kind is watched again when its columns are others", steps: [...made, ...again()] },
    { name: "a kind is watched from before its columns were others", steps: [...made, ...fromBefore()] },
  ]
}

const column = { name: "Size", type: "integer", jsonPath: ".size" }

/** Of each version, as objects and as tables. */
function watched(): Step[] {
  return [
    watch(things(), isOver),
    watch(`${things("v2")}?resourceVersion=0&allowWatchBookmarks=true`, isOver),
    watch(things(), { headers: asTable, ...isOver }),
    watch(`${things()}?fieldSelector=metadata.name=b`, isOver),
    post(things(), thing("b")),
  ]
}

/** Their objects are deleted first. */
function gone(): Step[] {
  return [remove(own, undefined, { label: "WRITE end of definition" }), get(own, { untilCode: 404 }), get(things())]
}

function unaffected(): Step[] {
  return [
    watch(things()),
    change("labels", { metadata: { labels: { a: "b" } } }),
    change("stored versions", { status: { storedVersions: ["v1", "v2"] } }, `${own}/status`),
    change("finalizers", { metadata: { finalizers: ["example.com/hold"] } }),
    remove(own, undefined, { label: "WRITE end of definition" }),
    get(own, { untilText: "InstanceDeletionCompleted", label: "READ definition" }),
    change("finalizers that are gone", { metadata: { finalizers: null } }),
  ]
}

function again(): Step[] {
  const columns = (...all: Json[]): Json =>
    ({ spec: { versions: [version("v1", { additionalPrinterColumns: all }), version("v2")] } }) as Json
  return [
    watch(things(), { headers: asTable, ...isOver }),
    change("columns", columns(column)),
    get(things(), { headers: asTable, untilText: '"Size"' }),
    watch(things(), { headers: asTable, ...isOver }),
    change("more columns", columns(column, { ...column, name: "Again" })),
    get(things(), { headers: asTable, untilText: '"Again"' }),
  ]
}

/** Upstream keeps no changes from before: who continues from there is told to begin anew. */
function fromBefore(): Step[] {
  const columns = (...all: Json[]): Json =>
    ({ spec: { versions: [version("v1", { additionalPrinterColumns: all }), version("v2")] } }) as Json
  const since = "resourceVersion=@{b.metadata.resourceVersion}&timeoutSeconds=2"
  return [
    post(things(), thing("b"), { save: "b" }),
    post(things(), thing("c"), { save: "c" }),
    change("columns", columns(column)),
    get(things(), { headers: asTable, untilText: '"Size"' }),
    watch(`${things()}?${since}`, isOver),
    watch(`${things()}?resourceVersion=@{c.metadata.resourceVersion}&timeoutSeconds=2`, isOver),
    watch(`${things("v2")}?${since}`, isOver),
    get(`${things()}?resourceVersion=@{b.metadata.resourceVersion}&resourceVersionMatch=Exact`),
    get(`${things()}?resourceVersion=@{b.metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`),
    post(things(), thing("d")),
    watch(`${things()}?${since}`, isOver),
  ]
}
