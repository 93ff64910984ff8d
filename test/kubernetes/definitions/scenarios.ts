// Requests with commonly installed definitions: their installation, and objects of their kinds, from samples and random ones.

import { createRandom, pick, type Random } from "../../../apimachinery/testing/random.ts"
import { definitions as path } from "../differential/cases/things.ts"
import { asTable } from "../differential/generate/life-scenarios.ts"
import type { JsonObject } from "../differential/generate/objects.ts"
import {
  applyPatch,
  get,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
} from "../differential/scenario.ts"
import { type Collection, type DefinitionSet, kindOf } from "./collect.ts"
import { withMistakes } from "./mistakes.ts"
import { Values } from "./values.ts"

/** How many of each are made for a kind. */
export interface Amounts {
  samples: number
  objects: number
  mistakes: number
  updates: number
}

interface Version {
  name: string
  served: boolean
  storage: boolean
  schema?: { openAPIV3Schema: JsonObject }
  subresources?: { status?: object }
}

interface Spec {
  group: string
  scope: string
  names: { plural: string; kind: string }
  versions: readonly Version[]
}

const nameOf = (definition: JsonObject): string => (definition["metadata"] as { name: string }).name
const specOf = (definition: JsonObject): Spec => definition["spec"] as unknown as Spec

/** The suite has no time for all. */
const tellingCount = 3
const largestTelling = 150_000

/** Of a set those that have most rules and are not large, or else the smallest. */
export function telling(set: DefinitionSet): DefinitionSet {
  const sized = set.definitions.map((definition) => ({ definition, text: JSON.stringify(definition) }))
  const bySize = sized.toSorted((a, b) => a.text.length - b.text.length)
  const rules = ({ text }: { text: string }): number => text.split('"rule":').length
  const small = bySize.filter(({ text }) => text.length <= largestTelling).toSorted((a, b) => rules(b) - rules(a))
  const chosen = small.length === 0 ? bySize.slice(0, 1) : small.slice(0, tellingCount)
  return { ...set, definitions: chosen.map(({ definition }) => definition) }
}

/** Applied, so that another set's of the same name is updated; all that describes them, if it exists. */
export function installation({ name, definitions }: DefinitionSet): Scenario {
  const versions = new Set(
    definitions
      .map(specOf)
      .flatMap(({ group, versions: of }) => of.filter(({ served }) => served).map((one) => `${group}/${one.name}`)),
  )
  const steps = [...definitions.flatMap(installed), ...[...versions].flatMap((version) => documentsOf(version))]
  return { name: `definitions of ${name} are installed`, steps, anyOrder: true }
}

function installed(definition: JsonObject): RequestStep[] {
  const own = `${path}/${nameOf(definition)}`
  const { versions, group, names } = specOf(definition)
  return [
    post(`${path}?dryRun=All&fieldValidation=Strict`, definition, { label: `POST ${nameOf(definition)}` }),
    patch(`${own}?fieldManager=differential&force=true`, applyPatch, definition, {
      label: `APPLY ${nameOf(definition)}`,
    }),
    get(own, { untilText: '"reason":"InitialNamesAccepted"' }),
    ...versions.map(({ name: version, served }) =>
      get(`/apis/${group}/${version}/${names.plural}`, { headers: asTable, untilCode: served ? 200 : 404 }),
    ),
  ]
}

function documentsOf(version: string): RequestStep[] {
  return [
    get(`/apis/${version.slice(0, version.indexOf("/"))}`),
    get(`/apis/${version}`),
    get(`/openapi/v3/apis/${version}`, { untilCode: 200, document: true }),
  ]
}

export function removal({ name, definitions }: DefinitionSet): Scenario {
  const steps = definitions.flatMap((definition) => [
    remove(`${path}/${nameOf(definition)}`),
    get(`${path}/${nameOf(definition)}`, { untilCode: 404 }),
  ])
  return { name: `definitions of ${name} are removed`, steps }
}

/** Objects of one kind. */
export function objectsOf(
  set: DefinitionSet,
  definition: JsonObject,
  collection: Collection,
  amounts: Amounts,
  seed: number,
): Scenario {
  const spec = specOf(definition)
  const random = createRandom(seed)
  const samples = spread(collection.samples[kindOf(definition)] ?? [], amounts.samples)
  const served = spec.versions.filter((version) => version.served)
  const steps = [
    ...samples.flatMap((sample, index) => ofSample(random, spec, sample, index)),
    ...served.flatMap((version, index) => {
      const many =
        version.storage || served.length === 1 ? amounts : { ...amounts, objects: 1, mistakes: 2, updates: 1 }
      return ofVersion(random, spec, version, many, `r${index}-`)
    }),
    ...served.flatMap(({ name: version }) => [
      get(pathOf(spec, version), { headers: asTable }),
      get(pathOf(spec, version)),
    ]),
  ]
  const named = steps.map((step, index) => ({ ...step, label: `${index} ${step.method} ${step.path}` }))
  return {
    name: `objects of ${set.name}: ${nameOf(definition)}, seed ${seed}`,
    steps: named,
    anyOrder: true,
    byChance: true,
  }
}

function spread<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items]
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)] as T)
}

function pathOf({ group, scope, names }: Spec, version: string): string {
  return `/apis/${group}/${version}${scope === "Namespaced" ? "/namespaces/@{ns}" : ""}/${names.plural}`
}

const schemaOf = ({ schema }: Version): JsonObject => schema?.openAPIV3Schema ?? {}

/** As it is, then with a mistake, and changed. */
function ofSample(random: Random, spec: Spec, sample: JsonObject, index: number): RequestStep[] {
  const { apiVersion } = sample
  const versionName = typeof apiVersion === "string" ? (apiVersion.split("/")[1] ?? "") : ""
  const version = spec.versions.find(({ name, served }) => name === versionName && served)
  if (version === undefined) return []
  const list = pathOf(spec, versionName)
  const name = `s${index}-@{id}`
  const { namespace: _, uid: _uid, resourceVersion: _revision, ...metadata } = (sample["metadata"] ?? {}) as JsonObject
  const object = { ...sample, metadata: { ...metadata, name } }
  const save = `s${index}`
  const current = {
    ...object,
    metadata: { ...object.metadata, resourceVersion: `@{${save}.metadata.resourceVersion}` },
  }
  const schema = schemaOf(version)
  return [
    post(`${list}?fieldValidation=Strict&dryRun=All`, object, { headers: asTable }),
    post(`${list}?fieldValidation=Warn`, object, { save }),
    put(`${list}/${name}?dryRun=All`, withMistakes(random, current, schema)),
    patch(`${list}/${name}?dryRun=All&fieldManager=b&force=true`, applyPatch, withMistakes(random, object, schema)),
  ]
}

function ofVersion(random: Random, spec: Spec, version: Version, amounts: Amounts, prefix: string): RequestStep[] {
  const list = pathOf(spec, version.name)
  const schema = schemaOf(version)
  const made = (name: string, optional: number): JsonObject => {
    const { metadata: _, ...value } = new Values(random, optional).of({ ...schema, type: "object" }) as JsonObject
    return { ...value, apiVersion: `${spec.group}/${version.name}`, kind: spec.names.kind, metadata: { name } }
  }
  const densities = [0, 0.15, 0.4, 0.9, 0.25, 0.6]
  const objects = Array.from({ length: amounts.objects }, (_, index) => ({
    save: `${prefix}${index}`,
    object: made(`${prefix}${index}-@{id}`, densities[index % densities.length] ?? 0.3),
  }))
  const other = (): JsonObject => made(`${prefix}x`, pick(random, [0, 0.2, 0.5]))
  const mistakes = Array.from({ length: amounts.mistakes }, () => {
    const base = random(3) === 0 ? other() : pick(random, objects).object
    const how = pick(random, ["Strict", "Warn", "Ignore"])
    return post(`${list}?dryRun=All&fieldValidation=${how}`, {
      ...withMistakes(random, base, schema),
      metadata: { name: `${prefix}x` },
    })
  })
  return [
    ...objects.flatMap(({ object, save }) => [post(`${list}?fieldValidation=Strict`, object, { save })]),
    ...mistakes,
    ...Array.from({ length: amounts.updates }, () => pick(random, objects)).flatMap((one) =>
      updates(random, list, version, one),
    ),
  ]
}

function updates(
  random: Random,
  list: string,
  version: Version,
  { object, save }: { object: JsonObject; save: string },
): RequestStep[] {
  const own = `${list}/${save}-@{id}`
  const schema = schemaOf(version)
  const resourceVersion = `@{${save}.metadata.resourceVersion}`
  const current = { ...object, metadata: { name: `${save}-@{id}`, resourceVersion } }
  const { metadata: _, ...changed } = withMistakes(random, object, schema)
  const status = {
    ...current,
    ...(new Values(random, 0.7).of({ ...schema, type: "object" }) as JsonObject),
    apiVersion: object["apiVersion"] ?? "",
    kind: object["kind"] ?? "",
    metadata: current.metadata,
  }
  return [
    put(
      `${own}?dryRun=All`,
      { ...withMistakes(random, current, schema), metadata: current.metadata },
      { headers: asTable },
    ),
    patch(`${own}?dryRun=All&fieldValidation=Strict`, mergePatch, changed),
    patch(`${own}?dryRun=All&fieldManager=two&force=true`, applyPatch, {
      ...changed,
      metadata: { name: `${save}-@{id}` },
    }),
    ...(version.subresources?.status === undefined
      ? []
      : [
          put(`${own}/status?dryRun=All`, status),
          put(`${own}/status?dryRun=All`, withMistakes(random, status, schema)),
        ]),
  ]
}
