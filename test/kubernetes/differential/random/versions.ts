// Random lifecycles of custom resources, through all versions of their definition and its subresources.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { definitions } from "../cases/things.ts"
import { asMetadata, asTable, asYaml } from "../generate/life-scenarios.ts"
import type { JsonObject } from "../generate/objects.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  type Step,
  watch,
  withQuery,
} from "../scenario.ts"
import { titled } from "./titled.ts"
import { definitionOfVersions, specOf, statusOf } from "./version-schemas.ts"

export const group = "v@{id}.example.com"
const length = 30
export const versionNames = ["v1", "v2", "v1beta1", "v2alpha1"]

interface Context {
  random: Random
  versions: readonly string[]
}

export function randomVersionsScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const versions = versionNames.filter(() => chance(random, 0.5))
  if (versions.length === 0) versions.push("v1")
  const context: Context = { random, versions }
  const opened = [opens(context), opens(context)].flat()
  const steps: Step[] = [
    ...versions.map((version) => get(at(version), { untilCode: 200 })),
    ...(chance(random, 0.5) ? opened : []),
    ...Array.from({ length }, () => (chance(random, 0.06) ? redefines(context) : stepOf(context))).flat(),
  ]
  return {
    name: `versions of a custom resource at random, seed ${seed}`,
    steps: [
      { ...post(definitions, definitionOfVersions(random, group, versions)), label: "POST definition" },
      ...titled(steps),
    ],
    anyOrder: true,
    byChance: true,
  }
}

/** Each is chosen as often as it is listed. */
const choices: readonly ((context: Context) => Step[])[] = [
  creates,
  creates,
  updates,
  updates,
  patches,
  patches,
  applies,
  applies,
  statuses,
  statuses,
  scales,
  scales,
  reads,
  lists,
  lists,
  deletes,
]

/** A random request, or several that belong together. */
export const stepOf = (context: Context): Step[] => pick(context.random, choices)(context)

export const at = (version: string): string => `/apis/${group}/${version}/namespaces/@{ns}/things`

const names = ["a", "b", "abc"]

function thing({ random }: Context, version: string, name: string): JsonObject {
  return {
    apiVersion: `${group}/${version}`,
    kind: "Thing",
    metadata: { name, ...(chance(random, 0.5) ? { labels: { l: pick(random, ["1", "2"]) } } : {}) },
    ...(chance(random, 0.9) ? { spec: specOf(random) } : {}),
    ...(chance(random, 0.3) ? { status: statusOf(random) } : {}),
    ...(chance(random, 0.1) ? { bogus: 1 } : {}),
  }
}

function query({ random }: Context): string {
  return [
    ...(chance(random, 0.2) ? ["dryRun=All"] : []),
    ...(chance(random, 0.3) ? [`fieldValidation=${pick(random, ["Strict", "Warn", "Ignore"])}`] : []),
    ...(chance(random, 0.2) ? [`fieldManager=${pick(random, ["one", "two"])}`] : []),
  ].join("&")
}

const forms = [{}, {}, {}, asTable, asYaml, asMetadata]

function creates(context: Context): RequestStep[] {
  const { random, versions } = context
  const version = pick(random, versions)
  return [post(withQuery(at(version), query(context)), thing(context, version, pick(random, names)))]
}

function updates(context: Context): RequestStep[] {
  const { random, versions } = context
  const [read, written] = [pick(random, versions), pick(random, versions)]
  const name = pick(random, names)
  const object = thing(context, written, name)
  const metadata = { ...(object["metadata"] as JsonObject), resourceVersion: "@{now.metadata.resourceVersion}" }
  return [
    { ...get(`${at(read)}/${name}`, { headers: {} }), save: "now" },
    put(withQuery(`${at(written)}/${name}`, query(context)), chance(random, 0.9) ? { ...object, metadata } : object),
  ]
}

function patches(context: Context): RequestStep[] {
  const { random, versions } = context
  const path = withQuery(`${at(pick(random, versions))}/${pick(random, names)}`, query(context))
  const [field, value] = Object.entries(specOf(random))[0] ?? ["size", 3]
  return [
    chance(random, 0.6)
      ? patch(path, mergePatch, { spec: specOf(random) })
      : patch(path, jsonPatch, [
          { op: pick(random, ["add", "replace", "remove", "test"]), path: `/spec/${field}`, value },
        ]),
  ]
}

function applies(context: Context): RequestStep[] {
  const { random, versions } = context
  const version = pick(random, versions)
  const name = pick(random, names)
  const path = `${at(version)}/${name}${chance(random, 0.15) ? "/status" : ""}`
  const who = `fieldManager=${pick(random, ["one", "two"])}&force=${random(2) === 0}`
  return [
    patch(
      withQuery(path, `${who}${chance(random, 0.2) ? "&dryRun=All" : ""}`),
      applyPatch,
      thing(context, version, name),
    ),
  ]
}

function statuses(context: Context): RequestStep[] {
  const { random, versions } = context
  const version = pick(random, versions)
  const name = pick(random, names)
  const path = `${at(version)}/${name}/status`
  if (chance(random, 0.2)) return [get(path, { headers: pick(random, forms) })]
  if (chance(random, 0.6)) return [patch(withQuery(path, query(context)), mergePatch, { status: statusOf(random) })]
  const object = thing(context, version, name)
  const metadata = { name, resourceVersion: "@{now.metadata.resourceVersion}" }
  return [
    { ...get(`${at(version)}/${name}`), save: "now" },
    put(withQuery(path, query(context)), { ...object, metadata, status: statusOf(random) }),
  ]
}

function scales(context: Context): RequestStep[] {
  const { random, versions } = context
  const name = pick(random, names)
  const path = `${at(pick(random, versions))}/${name}/scale`
  const replicas = pick<Json>(random, [1, 2, 4, 6, 9, -1, null, "3"])
  switch (random(4)) {
    case 0:
      return [get(path, { headers: pick(random, forms) })]
    case 1:
      return [patch(withQuery(path, query(context)), mergePatch, { spec: { replicas } })]
    case 2:
      return [
        patch(`${path}?fieldManager=three&force=true`, applyPatch, {
          apiVersion: "autoscaling/v1",
          kind: "Scale",
          metadata: { name },
          spec: { replicas },
        }),
      ]
    default:
      return [put(withQuery(path, query(context)), { metadata: { name }, spec: { replicas } })]
  }
}

function reads({ random, versions }: Context): RequestStep[] {
  return [get(`${at(pick(random, versions))}/${pick(random, names)}`, { headers: pick(random, forms) })]
}

function selection(random: Random): string {
  const field = pick(random, ["spec.color", "spec.size", "spec.flag", "spec.bogus", "metadata.name", "status.phase"])
  const value = pick(random, ["red", "2", "false", "true", "", "a"])
  return `fieldSelector=${field}${pick(random, ["%3D", "!%3D"])}${value}`
}

function lists({ random, versions }: Context): RequestStep[] {
  const parts = [
    ...(chance(random, 0.5) ? [selection(random)] : []),
    ...(chance(random, 0.2) ? ["limit=1"] : []),
    ...(chance(random, 0.2) ? ["labelSelector=l%3D1"] : []),
  ]
  return [get(withQuery(at(pick(random, versions)), parts.join("&")), { headers: pick(random, forms) })]
}

function opens({ random, versions }: Context): Step[] {
  const parts = [
    ...(chance(random, 0.5) ? [selection(random)] : []),
    ...(chance(random, 0.5) ? ["resourceVersion=0"] : []),
  ]
  return [
    watch(withQuery(at(pick(random, versions)), parts.join("&")), {
      headers: pick(random, [{}, {}, asTable, asMetadata]),
    }),
  ]
}

function deletes({ random, versions }: Context): RequestStep[] {
  const version = pick(random, versions)
  if (chance(random, 0.2)) return [remove(withQuery(at(version), selection(random)))]
  return [remove(`${at(version)}/${pick(random, names)}${chance(random, 0.3) ? "?dryRun=All" : ""}`)]
}

/** Dry runs: the time at which a version is no longer served is up to the server (redefinitions.ts). */
function redefines({ random, versions }: Context): RequestStep[] {
  const some = versionNames.filter(() => chance(random, 0.5))
  const changed = definitionOfVersions(random, group, some.length === 0 ? versions : some)
  return [patch(`${definitions}/things.${group}?dryRun=All`, mergePatch, { spec: changed["spec"] ?? {} })]
}
