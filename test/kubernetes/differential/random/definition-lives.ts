// Random lives of kinds in one group: they compete for names, change, are told another status, and end. Upstream's controllers act a
// moment after a write, so kinds are read when another one, of a group of its own, has been given new names since.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { definitions } from "../cases/things.ts"
import type { JsonObject } from "../generate/objects.ts"
import { get, jsonPatch, mergePatch, patch, post, remove, type RequestStep, type Scenario } from "../scenario.ts"

const group = "l@{id}.example.com"
const markerGroup = "m@{id}.example.com"
/** No more, because upstream considers those that wait for a name in random order. */
const plurals = ["as", "bs"]
const length = 10

export function randomDefinitionLifeScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const rounds = Array.from({ length }, () => pick(random, choices)(random, pick(random, plurals)))
  return {
    name: `kinds live at random, seed ${seed}`,
    steps: [
      post(definitions, bodyOf(markerGroup, "markers", { kind: "Marker" }, {}), { label: "WRITE marker" }),
      ...plurals.map((plural) => makes(random, plural)).map((step) => ({ ...step, label: `WRITE ${step.label}` })),
      ...rounds.flatMap((step, index) => [...settled(index), ...written(step, index)]),
      ...settled(length),
    ],
    anyOrder: true,
    byChance: true,
  }
}

/** Upstream ends a kind in its own time. */
function written(step: RequestStep, round: number): RequestStep[] {
  const isEnd = step.method === "DELETE"
  const ended = isEnd ? [get(step.path, { untilCode: 404, label: `WRITE nothing, until the end ${round}` })] : []
  return [{ ...step, label: `WRITE ${round} ${step.label}` }, ...ended]
}

/** The controller of names takes kinds in the order of their changes; those that it has to consider again come once more. */
function settled(round: number): RequestStep[] {
  const rename = (name: string): RequestStep[] => [
    patch(`${definitions}/markers.${markerGroup}`, mergePatch, { spec: { names: { shortNames: [name] } } } as Json, {
      label: `WRITE ${name}`,
    }),
    get(`/apis/${markerGroup}/v1`, { untilText: `"${name}"`, label: `WRITE nothing, until ${name}` }),
  ]
  return [
    ...["a", "b", "c"].flatMap((part) => rename(`marker${round}${part}`)),
    ...plurals.map((plural) => get(`${definitions}/${plural}.${group}`, { label: `READ ${plural} ${round}` })),
  ]
}

type Choice = (random: Random, plural: string) => RequestStep

const choices: readonly Choice[] = [makes, makes, renames, renames, renames, versions, converts, tells, tells, ends]

function bodyOf(of: string, plural: string, names: JsonObject, spec: JsonObject): JsonObject {
  return {
    metadata: { name: `${plural}.${of}` },
    spec: { group: of, scope: "Cluster", names: { plural, ...names }, versions: [version("v1", true)], ...spec },
  }
}

const version = (name: string, storage: boolean): JsonObject => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: "object" } },
})

const change = (plural: string, body: Json, label: string, path = ""): RequestStep =>
  patch(`${definitions}/${plural}.${group}${path}`, mergePatch, body, { label: `${label} ${JSON.stringify(body)}` })

function makes(random: Random, plural: string): RequestStep {
  const spec = chance(random, 0.3) ? { conversion: conversionOf(random) } : {}
  const names = { kind: pick(random, kinds), ...namesOf(random) }
  return post(definitions, bodyOf(group, plural, names, spec), { label: `new ${plural} ${JSON.stringify(names)}` })
}

/**
 * A name is always one of the same kind: upstream gives a name that a definition no longer has to others first, even if it wants the
 * name as another one.
 */
const kinds = ["A", "B", "C"]
const listKinds = ["AList", "BList", "Z"]
const singulars = ["a", "b", "c"]
const words = ["x", "y", "z"]

function namesOf(random: Random): JsonObject {
  const some = (): Json => words.filter(() => chance(random, 0.4))
  return {
    ...(chance(random, 0.4) ? { singular: pick(random, singulars) } : {}),
    ...(chance(random, 0.3) ? { listKind: pick(random, listKinds) } : {}),
    ...(chance(random, 0.6) ? { shortNames: some() } : {}),
    ...(chance(random, 0.3) ? { categories: some() } : {}),
  }
}

function renames(random: Random, plural: string): RequestStep {
  const names = { ...(chance(random, 0.3) ? { kind: pick(random, kinds) } : {}), ...namesOf(random) }
  const gone = chance(random, 0.2) ? { [pick(random, ["singular", "listKind", "shortNames"])]: null } : {}
  return change(plural, { spec: { names: { ...names, ...gone } } }, `names of ${plural}`)
}

function versions(random: Random, plural: string): RequestStep {
  const stored = pick(random, ["v1", "v2"])
  const names = chance(random, 0.7) ? ["v1", "v2"] : [stored]
  return change(
    plural,
    { spec: { versions: names.map((name) => version(name, name === stored)) } },
    `versions of ${plural}`,
  )
}

function conversionOf(random: Random): JsonObject {
  if (chance(random, 0.3)) return { strategy: "None", webhook: null }
  const clientConfig = { url: "https://127.0.0.1:1/", caBundle: pick(random, ["bm8=", null]) }
  return { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } }
}

function converts(random: Random, plural: string): RequestStep {
  return change(plural, { spec: { conversion: conversionOf(random) } }, `conversion of ${plural}`)
}

function tells(random: Random, plural: string): RequestStep {
  const status = pick<() => JsonObject>(random, [
    () => ({ conditions: null }),
    () => ({
      conditions: ["X", ...conditionTypes.filter(() => chance(random, 0.5))].map((type) => conditionOf(random, type)),
    }),
    () => ({ storedVersions: pick<Json>(random, [[], ["v1"], ["v0", "v1"], ["v2"]]) }),
    () => ({ observedGeneration: pick(random, [0, 1, 9]) }),
  ])()
  if (chance(random, 0.1)) {
    const test = [{ op: "add", path: "/status/conditions/0", value: conditionOf(random, "X") }] as unknown as Json
    return patch(`${definitions}/${plural}.${group}/status`, jsonPatch, test, { label: `first condition of ${plural}` })
  }
  return change(plural, { status }, `status of ${plural}`, "/status")
}

/** Not of names: if they are said to be accepted and are not, upstream may establish the kind before it notices. */
const conditionTypes = ["Established", "Terminating"]

function conditionOf(random: Random, type: string): JsonObject {
  return {
    type,
    status: pick(random, ["True", "False", "Unknown"]),
    reason: pick(random, ["R", "InitialNamesAccepted"]),
    message: "m",
    lastTransitionTime: pick<Json>(random, ["2020-01-01T00:00:00Z", null]),
    ...(chance(random, 0.4) ? { observedGeneration: 3 } : {}),
  }
}

function ends(random: Random, plural: string): RequestStep {
  const options = pick<Json | undefined>(random, [undefined, { propagationPolicy: "Foreground" }])
  return remove(`${definitions}/${plural}.${group}`, options, { label: `end of ${plural}` })
}
