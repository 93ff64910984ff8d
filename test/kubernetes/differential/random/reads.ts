// Random lists, pages, watches and deletions of a collection whose objects are created, changed and deleted: all combinations of
// parameters, including meaningless ones.

import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { asMetadata, asMetadataList, asTable, asYaml } from "../generate/life-scenarios.ts"
import { type JsonObject, type Kind, nameOf } from "../generate/objects.ts"
import {
  get,
  mergePatch,
  patch,
  post,
  remove,
  type RequestStep,
  type Scenario,
  type Step,
  watch,
  withQuery,
} from "../scenario.ts"
import { deleteOptions } from "./queries.ts"
import { ruling } from "./ruling.ts"
import { titled } from "./titled.ts"

/** Number of requests per scenario after those that create its objects. */
const length = 22
const words = ["1", "2", "x"]

interface Context {
  random: Random
  kind: Kind
  objects: readonly JsonObject[]
}

export function randomReadScenario(kind: Kind, seed: number): Scenario {
  const random = createRandom(seed)
  const objects = [kind.object(), kind.other()].map((object) => labelled(random, object))
  const context: Context = { random, kind, objects }
  const choices = ruling.has(kind.facts.resource) ? [lists, lists, pages, watches, deletions] : all
  const steps: Step[] = [
    ...objects.map((object, index) => post(kind.path, object, { save: index === 0 ? "first" : "last" })),
    ...Array.from({ length }, () => pick(random, choices)(context)).flat(),
  ]
  return {
    name: `${kind.title} at random, reads, seed ${seed}`,
    steps: titled(steps),
    anyOrder: true,
    byChance: true,
  }
}

/** Each is chosen as often as it is listed. */
const all: readonly ((context: Context) => Step[])[] = [
  lists,
  lists,
  lists,
  pages,
  watches,
  watches,
  changes,
  changes,
  deletions,
]

function labelled(random: Random, object: JsonObject): JsonObject {
  const labels = { own: "@{id}", a: pick(random, words), ...(chance(random, 0.5) ? { app: "minimal" } : {}) }
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), labels } }
}

/** None is old enough to have been compacted on one of the servers. */
const revisions = ["0", "", "@{first.metadata.resourceVersion}", "@{last.metadata.resourceVersion}", "abc", "-1"]
const selectors = [
  "a",
  "!a",
  "a%3D1",
  "a%20in%20(1,x)",
  "a%20notin%20(1)",
  "a!%3D1",
  "app%3Dminimal",
  "a%20in%20(",
  "=",
]

/** For cluster-scoped kinds only own objects are comparable. */
function labelSelector({ random, kind }: Context): string[] {
  const own = kind.facts.namespaced && chance(random, 0.7) ? [] : ["own%3D@{id}"]
  const parts = [...own, ...(chance(random, 0.35) ? [pick(random, selectors)] : [])]
  return parts.length === 0 ? [] : [`labelSelector=${parts.join(",")}`]
}

function fieldSelector({ random, kind, objects }: Context): string[] {
  if (!chance(random, 0.25)) return []
  const name = nameOf(pick(random, objects))
  const other = pick(random, ["metadata.namespace", ...(kind.facts.selectableFields ?? []), "spec.bogus"])
  return [
    `fieldSelector=${pick(random, [
      `metadata.name%3D${name}`,
      `metadata.name!%3D${name}`,
      `metadata.name%3D${name},metadata.namespace%3D@{ns}`,
      `${other}%3Dx`,
      `${other}!%3Dx`,
      `${other}%3D`,
    ])}`,
  ]
}

function some(random: Random, name: string, probability: number, values: readonly string[]): string[] {
  return chance(random, probability) ? [`${name}=${pick(random, values)}`] : []
}

/** Parameters common to lists and watches. */
function parameters(context: Context, isWatch: boolean): string[] {
  const { random } = context
  const seldom = isWatch ? 0.06 : 0.4
  const watching = isWatch ? 0.35 : 0.05
  return [
    ...labelSelector(context),
    ...fieldSelector(context),
    ...some(random, "resourceVersion", 0.6, revisions),
    ...some(random, "resourceVersionMatch", 0.3, ["NotOlderThan", "NotOlderThan", "Exact", "Bogus", ""]),
    ...some(random, "limit", seldom, ["1", "1", "2", "0", "-1", "x"]),
    ...some(random, "continue", seldom / 4, ["@{page.metadata.continue}", "x", "e30", ""]),
    ...some(random, "sendInitialEvents", watching, ["true", "true", "false", "x", "1"]),
    ...some(random, "allowWatchBookmarks", watching, ["true", "true", "false", "x"]),
  ]
}

const forms = [
  {},
  {},
  {},
  {},
  asTable,
  asYaml,
  asMetadata,
  asMetadataList,
  { accept: "application/vnd.kubernetes.protobuf" },
]

function form({ random }: Context): { headers?: Record<string, string> } {
  return { headers: { ...pick(random, forms) } }
}

function lists(context: Context): RequestStep[] {
  const { kind } = context
  const query = parameters(context, false)
  return [...(hasRevision(query) ? fresh(context) : []), get(withQuery(kind.path, query.join("&")), form(context))]
}

/**
 * Upstream answers with a state of any age that is not older than the revision: its cache is a moment behind, or longer on a busy machine,
 * but not after a list of what there is now.
 */
function fresh({ kind }: Context): RequestStep[] {
  return [get(withQuery(kind.path, "labelSelector=own%3D@{id}"))]
}

const hasRevision = (query: readonly string[]): boolean => query.some((part) => part.startsWith("resourceVersion="))

/** A page, sometimes changes after it, and the next page with other parameters. */
function pages(context: Context): RequestStep[] {
  const { random, kind } = context
  const selector = labelSelector(context)
  const first = [...selector, "limit=1", ...some(random, "resourceVersion", 0.3, revisions)]
  const next = [
    ...(chance(random, 0.9) ? selector : labelSelector(context)),
    ...some(random, "limit", 0.8, ["1", "1", "2", "0"]),
    "continue=@{page.metadata.continue}",
    ...some(random, "resourceVersion", 0.2, revisions),
    ...some(random, "resourceVersionMatch", 0.1, ["Exact", "NotOlderThan"]),
  ]
  return [
    ...(hasRevision(first) ? fresh(context) : []),
    { ...get(withQuery(kind.path, first.join("&"))), save: "page" },
    ...(chance(random, 0.4) && !ruling.has(kind.facts.resource) ? changes(context) : []),
    get(withQuery(kind.path, next.join("&")), form(context)),
  ]
}

function watches(context: Context): Step[] {
  const { random, kind, objects } = context
  const isTimed = chance(random, 0.1)
  const query = [
    ...parameters(context, true),
    ...(isTimed ? ["timeoutSeconds=1"] : some(random, "timeoutSeconds", 0.1, ["0", "x", "60", "2.5"])),
  ]
  const path = chance(random, 0.1) ? `${kind.path}/${nameOf(pick(random, objects))}` : kind.path
  return [
    ...fresh(context),
    watch(withQuery(path, query.join("&")), { ...form(context), ...(isTimed ? { untilEnd: true } : {}) }),
  ]
}

function changes({ random, kind, objects }: Context): RequestStep[] {
  const object = pick(random, objects)
  const at = `${kind.path}/${nameOf(object)}`
  switch (random(4)) {
    case 0:
      return [remove(at, { gracePeriodSeconds: 0 }), ...(chance(random, 0.7) ? [post(kind.path, object)] : [])]
    case 1:
      return [post(kind.path, object)]
    default:
      return [patch(at, mergePatch, { metadata: { labels: { a: pick(random, [...words, null]) } } })]
  }
}

/** Deletes the collection, then recreates a part of it. */
function deletions(context: Context): RequestStep[] {
  const { random, kind, objects } = context
  const { query, body } = deleteOptions(random)
  const isRuling = ruling.has(kind.facts.resource)
  const path = withQuery(kind.path, [...parameters(context, false), ...(isRuling ? ["dryRun=All"] : [])].join("&"))
  return [
    remove(withQuery(path, query), isRuling ? undefined : body, form(context)),
    ...(isRuling ? [] : objects.filter(() => chance(random, 0.6)).map((object) => post(kind.path, object))),
  ]
}
