// Several clients write one object by chance, mostly what is valid: some apply parts of it, others update or patch it, through itself and
// its subresources. Every response has the managed fields.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  put,
  remove,
  type RequestStep,
  type Scenario,
  strategicPatch,
  withQuery,
} from "../scenario.ts"
import { titled } from "./titled.ts"
import { isJsonObject } from "./values.ts"
import { writtenCustom } from "./written-custom.ts"
import { kinds, type Written } from "./written-kinds.ts"

const length = 36

export function randomWritersScenario(seed: number): Scenario {
  const random = createRandom(seed)
  return scenario(random, pick(random, kinds), `writers of one object at random, seed ${seed}`)
}

export function randomCustomWritersScenario(seed: number): Scenario {
  const random = createRandom(seed)
  return scenario(random, writtenCustom(random), `writers of a custom resource at random, seed ${seed}`)
}

function scenario(random: Random, written: Written, name: string): Scenario {
  const { given = [], others = [] } = written
  const all = [written, ...others]
  const steps = Array.from({ length }, () => pick(random, choices)(random, pick(random, all))).flat()
  return { name, steps: [...given, ...titled(steps)], anyOrder: true, byChance: true }
}

const choices: readonly ((random: Random, written: Written) => RequestStep[])[] = [
  applies,
  applies,
  applies,
  applies,
  patches,
  patches,
  updates,
  updates,
  manages,
  deletes,
]

/** Objects are merged, everything else is replaced. */
function merged(one: Json, other: Json): Json {
  if (!isJsonObject(one) || !isJsonObject(other)) return other
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return Object.fromEntries(
    keys.map((key) => [key, merged(one[key] ?? (null as Json), other[key] ?? (one[key] as Json))]),
  )
}

function composed(random: Random, base: JsonObject, parts: Written["parts"]): JsonObject {
  const chosen = Array.from({ length: random(3) }, () => pick(random, parts)(random))
  return chosen.reduce<Json>(merged, base) as JsonObject
}

/** A place to write to, and what. */
function target(
  random: Random,
  written: Written,
): { path: string; name: string; subresource: string; body: JsonObject } {
  const name = pick(random, ["a", "a", "a", "b"])
  const subresource = chance(random, 0.4) ? pick(random, Object.keys(written.subresources)) : ""
  const parts = written.subresources[subresource] ?? written.parts
  const base = subresource === "" && chance(random, 0.8) ? written.base : {}
  const at = `${written.path}/${name}`
  return {
    path: subresource === "" ? at : `${at}/${subresource}`,
    name,
    subresource,
    body: composed(random, base, parts),
  }
}

function query(random: Random, ...more: string[]): string {
  return [
    ...more,
    ...(chance(random, 0.1) ? ["dryRun=All"] : []),
    ...(chance(random, 0.15) ? [`fieldValidation=${pick(random, ["Strict", "Warn", "Ignore"])}`] : []),
  ].join("&")
}

function whole(written: Written, subresource: string, name: string, body: JsonObject): JsonObject {
  const isScale = subresource === "scale"
  return {
    apiVersion: isScale ? "autoscaling/v1" : written.apiVersion,
    kind: isScale ? "Scale" : written.kind,
    ...(merged({ metadata: { name } }, body) as JsonObject),
  }
}

function applies(random: Random, written: Written): RequestStep[] {
  const { path, name, subresource, body } = target(random, written)
  const who = `fieldManager=${pick(random, ["one", "two", "three"])}`
  const force = chance(random, 0.6) ? [`force=${random(3) > 0}`] : []
  return [patch(withQuery(path, query(random, who, ...force)), applyPatch, whole(written, subresource, name, body))]
}

function patches(random: Random, written: Written): RequestStep[] {
  const { path, body } = target(random, written)
  const who = chance(random, 0.7) ? [`fieldManager=${pick(random, ["one", "four"])}`] : []
  if (chance(random, 0.15)) {
    const operation = {
      op: pick(random, ["remove", "add", "replace"]),
      path: pick(random, ["/metadata/labels", "/metadata/labels/l", "/spec/replicas", "/metadata/annotations"]),
      value: pick<Json>(random, ["1", 2, {}, { l: "1" }]),
    }
    return [patch(withQuery(path, query(random, ...who)), jsonPatch, [operation])]
  }
  return [
    patch(withQuery(path, query(random, ...who)), pick(random, [mergePatch, strategicPatch, strategicPatch]), body),
  ]
}

function updates(random: Random, written: Written): RequestStep[] {
  const { path, name, subresource, body } = target(random, written)
  const full = subresource === "" || subresource === "scale" ? body : (merged(written.base, body) as JsonObject)
  return [
    ...(chance(random, 0.2) ? [get(path)] : []),
    put(
      withQuery(path, query(random, `fieldManager=${pick(random, ["one", "five"])}`)),
      whole(written, subresource, name, full),
    ),
  ]
}

/** Managed fields are given up, or those of others taken over. */
function manages(random: Random, written: Written): RequestStep[] {
  const managedFields = pick<Json>(random, [
    [],
    [{}],
    [
      {
        manager: "two",
        operation: "Apply",
        apiVersion: written.apiVersion,
        fieldsType: "FieldsV1",
        fieldsV1: { "f:metadata": { "f:labels": { "f:l": {} } } },
      },
    ],
    [
      {
        manager: "one",
        operation: "Update",
        apiVersion: written.apiVersion,
        fieldsType: "FieldsV1",
        fieldsV1: { "f:spec": {} },
      },
    ],
  ])
  return [patch(`${written.path}/a`, mergePatch, { metadata: { managedFields } })]
}

function deletes(random: Random, written: Written): RequestStep[] {
  if (chance(random, 0.6)) return []
  const at = `${written.path}/${pick(random, ["a", "b"])}`
  return [
    remove(at, { gracePeriodSeconds: 0, ...(chance(random, 0.3) ? { propagationPolicy: "Foreground" } : {}) }),
    patch(at, mergePatch, { metadata: { finalizers: null } }),
  ]
}
