// Random lives of namespaces, with their two lists of finalizers: created, changed, finalized by every verb, deleted, and what is created in
// them meanwhile. No controller empties them.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
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
  strategicPatch,
} from "../scenario.ts"
import { titled } from "./titled.ts"

const namespaces = "/api/v1/namespaces"
const names = ["e-@{id}-a", "e-@{id}-b"]
const length = 40

export function randomNamespaceEndScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = [
    ...names.map((name) => created(random, name)),
    ...Array.from({ length }, () => pick(random, choices)(random)),
    ...names.flatMap((name) => ends(name)),
  ]
  return { name: `ends of namespaces at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

/** None of them stays. */
function ends(name: string): RequestStep[] {
  return [
    patch(`${namespaces}/${name}`, mergePatch, { metadata: { finalizers: null } }),
    remove(`${namespaces}/${name}`),
    put(`${namespaces}/${name}/finalize`, { metadata: { name }, spec: {} }),
    get(`${namespaces}/${name}`),
  ]
}

const finalizers: readonly Json[] = [
  ["kubernetes"],
  ["kubernetes"],
  [],
  null,
  ["example.com/x"],
  ["kubernetes", "example.com/x"],
  ["kubernetes", "kubernetes"],
  ["bad name"],
  ["plain"],
  ["orphan"],
]

const metadataOf = (random: Random, name: string): JsonObject => ({
  name,
  ...(chance(random, 0.3) ? { finalizers: pick(random, finalizers) } : {}),
  ...(chance(random, 0.3)
    ? { labels: pick<Json>(random, [{ a: "b" }, { "kubernetes.io/metadata.name": "x" }, null]) }
    : {}),
  ...(chance(random, 0.1) ? { deletionTimestamp: pick<Json>(random, ["2024-01-01T00:00:00Z", null]) } : {}),
  ...(chance(random, 0.1) ? { generateName: "x" } : {}),
  ...(chance(random, 0.15)
    ? {
        resourceVersion: pick(random, [
          "1",
          "",
          "@{read.metadata.resourceVersion}",
          "@{read.metadata.resourceVersion}",
        ]),
      }
    : {}),
  ...(chance(random, 0.1) ? { uid: pick(random, ["other", "@{read.metadata.uid}"]) } : {}),
})

function bodyOf(random: Random, name: string): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: metadataOf(random, chance(random, 0.95) ? name : "other"),
    ...(chance(random, 0.7) ? { spec: chance(random, 0.9) ? { finalizers: pick(random, finalizers) } : {} } : {}),
    ...(chance(random, 0.15) ? { status: { phase: pick(random, ["Active", "Terminating", "Bogus"]) } } : {}),
  }
}

function created(random: Random, name: string): RequestStep {
  const query = pick(random, ["", "", "", "?dryRun=All", "?fieldManager=m"])
  return post(`${namespaces}${query}`, bodyOf(random, name))
}

const choices: readonly ((random: Random) => RequestStep)[] = [
  (random) => created(random, pick(random, names)),
  (random) => ({ ...get(`${namespaces}/${pick(random, names)}`), save: "read" }),
  finalizes,
  finalizes,
  finalizes,
  written,
  written,
  deletes,
  deletes,
  within,
  within,
  (random) => {
    const path = `${namespaces}/${pick(random, names)}/finalize`
    return pick(random, [
      () => get(path),
      () => patch(path, mergePatch, { spec: { finalizers: [] } }),
      () => post(path, bodyOf(random, pick(random, names))),
      () => remove(path),
    ])()
  },
]

function finalizes(random: Random): RequestStep {
  const name = pick(random, names)
  const query = pick(random, ["", "", "", "?dryRun=All", "?fieldManager=m", "?fieldValidation=Strict"])
  return put(`${namespaces}/${name}/finalize${query}`, bodyOf(random, name))
}

function written(random: Random): RequestStep {
  const name = pick(random, names)
  const path = `${namespaces}/${name}${pick(random, ["", "", "/status"])}`
  const query = pick(random, ["", "", "?dryRun=All"])
  const body = bodyOf(random, name)
  const { apiVersion: _version, kind: _kind, ...change } = body
  return pick(random, [
    () => put(`${path}${query}`, body),
    () => patch(`${path}${query}`, mergePatch, change),
    () => patch(`${path}${query}`, strategicPatch, change),
    () =>
      patch(`${path}${query}`, jsonPatch, [{ op: "add", path: "/spec/finalizers", value: pick(random, finalizers) }]),
    () => patch(`${path}${query}${query === "" ? "?" : "&"}fieldManager=m&force=true`, applyPatch, body),
  ])()
}

function deletes(random: Random): RequestStep {
  const options = pick<JsonObject | undefined>(random, [
    undefined,
    undefined,
    { gracePeriodSeconds: pick(random, [0, 5, -1]) },
    { propagationPolicy: pick(random, ["Orphan", "Foreground", "Background", "Bogus"]) },
    { orphanDependents: chance(random, 0.5) },
    { preconditions: { uid: pick(random, ["other", "@{read.metadata.uid}"]) } },
    { preconditions: { resourceVersion: "1" } },
    { dryRun: ["All"] },
  ])
  return remove(`${namespaces}/${pick(random, names)}`, options)
}

/** Objects in them, which nobody removes. */
function within(random: Random): RequestStep {
  const path = `${namespaces}/${pick(random, names)}/configmaps`
  const metadata = { name: "x", labels: { a: pick(random, ["b", "c"]) } }
  const apply = { apiVersion: "v1", kind: "ConfigMap", metadata }
  return pick(random, [
    () => post(path, { metadata }),
    () => post(`${path}?dryRun=All`, { metadata: { name: "y" } }),
    () => patch(`${path}/x?fieldManager=m`, applyPatch, apply),
    () => patch(`${path}/x`, mergePatch, { metadata: { labels: metadata.labels } }),
    () => remove(`${path}/x`),
    () => get(`${path}/x`),
  ])()
}
