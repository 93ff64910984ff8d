// Random writes of an object of any kind by several clients, which apply, update and patch fields that its schema has: each kind's
// lists and maps have keys and merge rules of their own, which decide whose field is whose.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { apiVersionOf } from "../../../conformance/minimal-objects.ts"
import { type JsonObject, type Kind, nameOf } from "../generate/objects.ts"
import {
  applyPatch,
  mergePatch,
  patch,
  put,
  remove,
  type RequestStep,
  type Scenario,
  strategicPatch,
  withQuery,
} from "../scenario.ts"
import { fuller } from "./lives.ts"
import { placesOf, replaced } from "./mutate.ts"
import { titled } from "./titled.ts"
import { isJsonObject, plausibleValue } from "./values.ts"

const length = 24
/** Objects that writers take their fields from, so that they meet at the same ones. */
const variantCount = 4

interface Context {
  random: Random
  kind: Kind
  at: string
  base: JsonObject
  variants: readonly JsonObject[]
}

export function randomKindWritersScenario(kind: Kind, seed: number): Scenario {
  const random = createRandom(seed)
  const base = kind.other()
  const variants = Array.from({ length: variantCount }, () => fuller(random, base, kind, 1 + random(4)))
  const context: Context = { random, kind, at: `${kind.path}/${nameOf(base)}`, base, variants }
  const steps = Array.from({ length }, () => pick(random, choices)(context)).flat()
  return {
    name: `${kind.title} at random, writers, seed ${seed}`,
    steps: titled(steps),
    anyOrder: true,
    byChance: true,
  }
}

const choices: readonly ((context: Context) => RequestStep[])[] = [
  applies,
  applies,
  applies,
  applies,
  applies,
  patches,
  patches,
  updates,
  statuses,
  statuses,
  deletes,
]

const configured = ({ kind, base }: Context, body: JsonObject): JsonObject => ({
  ...body,
  apiVersion: apiVersionOf(kind.facts),
  kind: kind.facts.kind,
  metadata: { ...(body["metadata"] as JsonObject | undefined), name: nameOf(base) },
})

/** One of the objects, maybe with labels, and without some of its parts. */
function chosen({ random, kind, variants }: Context, least: number): JsonObject {
  let body: Json = pick(random, variants)
  for (let count = least + random(3); count > 0; count--) {
    const places = placesOf(body, kind.schema).filter(
      ({ path }) => path.length > 1 && !["metadata", "kind", "apiVersion"].includes(String(path[0])),
    )
    if (places.length > 0) body = replaced(body, pick(random, places).path, undefined)
  }
  const labels = chance(random, 0.3) ? { labels: { [pick(random, ["l", "m"])]: pick(random, ["1", "2"]) } } : {}
  const object = isJsonObject(body) ? body : {}
  return { ...object, metadata: { ...(object["metadata"] as JsonObject | undefined), ...labels } }
}

function query(random: Random, managers: readonly string[]): string {
  return [
    `fieldManager=${pick(random, managers)}`,
    ...(chance(random, 0.1) ? ["dryRun=All"] : []),
    ...(chance(random, 0.1) ? [`fieldValidation=${pick(random, ["Strict", "Ignore"])}`] : []),
  ].join("&")
}

function applies(context: Context): RequestStep[] {
  const { random, at } = context
  const force = chance(random, 0.6) ? `&force=${chance(random, 0.7)}` : ""
  const path = withQuery(at, `${query(random, ["one", "two", "three"])}${force}`)
  return [patch(path, applyPatch, configured(context, chosen(context, 0)))]
}

function patches(context: Context): RequestStep[] {
  const { random, at } = context
  const { metadata: _, ...body } = chosen(context, 1)
  return [patch(withQuery(at, query(random, ["one", "four"])), pick(random, [mergePatch, strategicPatch]), body)]
}

function updates(context: Context): RequestStep[] {
  const { random, at } = context
  return [put(withQuery(at, query(random, ["one", "five"])), configured(context, chosen(context, 0)))]
}

function statuses(context: Context): RequestStep[] {
  const { random, kind, at, base } = context
  const schema = kind.schema.fields?.["status"]?.schema
  const known = kind.facts.subresources.some(({ name }) => name === "status")
  // A service that its status creates has no addresses, here or there, and gets them in other ways later.
  if (schema === undefined || !known || kind.facts.resource === "services") return applies(context)
  const body = configured(context, {
    ...(chance(random, 0.3) ? base : {}),
    status: plausibleValue(random, schema, "status"),
  })
  const path = withQuery(`${at}/status`, query(random, ["one", "six"]))
  switch (random(3)) {
    case 0:
      return [put(path, body)]
    case 1:
      return [patch(path, strategicPatch, { status: body["status"] ?? null })]
    default:
      return [patch(withQuery(path, `force=${chance(random, 0.7)}`), applyPatch, body)]
  }
}

function deletes({ random, at }: Context): RequestStep[] {
  if (chance(random, 0.7)) return []
  return [remove(at, { gracePeriodSeconds: 0 }), patch(at, mergePatch, { metadata: { finalizers: null } })]
}
