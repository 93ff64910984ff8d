// Random changes of an object: mistakes that clients could make, at positions known to the schema.

import type { Json } from "../../../../apimachinery/object.ts"
import { isQuantity, parseQuantity } from "../../../../apimachinery/quantity.ts"
import type { Schema } from "../../../../apimachinery/schema/schema.ts"
import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { FieldPath } from "../generate/fields.ts"
import type { JsonObject } from "../generate/objects.ts"
import { isJsonObject, oddValue, plausibleValue, randomKey } from "./values.ts"

/** A position in an object with its schema. */
interface Place {
  path: FieldPath
  value: Json
  schema: Schema | undefined
}

/** All positions in a value, beginning with the root. */
export function placesOf(value: Json, schema: Schema | undefined, path: FieldPath = []): Place[] {
  const here: Place = { path, value, schema }
  if (Array.isArray(value)) {
    return [here, ...value.flatMap((item, index) => placesOf(item, schema?.items, [...path, index]))]
  }
  if (!isJsonObject(value)) return [here]
  const inner = Object.entries(value).flatMap(([key, item]) => {
    const known = schema?.fields?.[key]?.schema ?? (schema?.type === "map" ? schema.items : undefined)
    return placesOf(item, known, [...path, key])
  })
  return [here, ...inner]
}

/** A copy with the value at the path; undefined removes it. */
export function replaced(value: Json, path: FieldPath, by: Json | undefined): Json {
  const [step, ...rest] = path
  if (step === undefined) return by ?? null
  if (Array.isArray(value)) {
    const copy = [...value]
    if (rest.length === 0 && by === undefined) copy.splice(Number(step), 1)
    else copy[Number(step)] = replaced(copy[Number(step)] ?? null, rest, by)
    return copy
  }
  const object = isJsonObject(value) ? value : {}
  const entries = Object.entries(object).filter(([key]) => key !== step)
  if (rest.length === 0 && by === undefined) return Object.fromEntries(entries)
  return Object.fromEntries([...entries, [step, replaced(object[step] ?? {}, rest, by)]])
}

/** A copy with some changes. The name is unchanged, since it identifies the object. */
export function mutated(random: Random, object: JsonObject, schema: Schema, changes = 1 + random(3)): JsonObject {
  let result: Json = object
  for (let count = 0; count < changes; count++) result = mutatedOnce(random, result, schema)
  return isJsonObject(result) ? result : object
}

const left: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata.name", "metadata", ""])

function mutatedOnce(random: Random, object: Json, schema: Schema): Json {
  const all = placesOf(object, schema)
  const inMetadata = chance(random, 0.15)
  const places = all.filter(({ path }) => (path[0] === "metadata") === inMetadata)
  if (places.length === 0) return object
  const place = pick(random, places)
  const change = changeOf(random, place)
  if (change === undefined) return object
  const changed = [...place.path, ...change.path]
  if (left.has(changed.join(".")) && !chance(random, 0.02)) return object
  return replaced(object, changed, change.value)
}

interface Change {
  /** Relative to the position. */
  path: FieldPath
  value: Json | undefined
}

function changeOf(random: Random, { path, value, schema }: Place): Change | undefined {
  const name = String(path.findLast((step) => typeof step === "string") ?? "")
  const self = (by: Json | undefined): Change => ({ path: [], value: by })
  if (Array.isArray(value) && chance(random, 0.7)) return self(otherList(random, value, schema, name))
  if (isJsonObject(value) && chance(random, 0.8)) return moreFields(random, value, schema)
  const dice = random(20)
  if (dice < 6 && schema?.format === "quantity" && typeof value === "string" && isQuantity(value))
    return self(sameAmount(random, value))
  if (dice < 9 && schema !== undefined) return self(plausibleValue(random, schema, name))
  if (dice < 14) return self(undefined)
  if (dice < 16) return self(null)
  return self(oddValue(random))
}

/** In another format. */
function sameAmount(random: Random, text: string): string {
  const { nano } = parseQuantity(text)
  const units = nano / 1_000_000_000n
  if (units * 1_000_000_000n !== nano) return `${nano}n`
  const forms = [String(units), `${units}e0`, `${units * 1000n}m`]
  if (units % 1024n === 0n) forms.push(`${units / 1024n}Ki`)
  return pick(random, forms)
}

function moreFields(random: Random, value: JsonObject, schema: Schema | undefined): Change {
  const fields = Object.entries(schema?.fields ?? {}).filter(([name]) => name !== "status")
  if (fields.length > 0 && !chance(random, 0.05)) {
    const [name, field] = pick(random, fields)
    if (["apiVersion", "kind", "metadata"].includes(name) && Object.hasOwn(value, name))
      return { path: [name], value: value[name] }
    return { path: [name], value: plausibleValue(random, field.schema, name) }
  }
  const items = schema?.type === "map" ? schema.items : undefined
  return { path: [randomKey(random)], value: items === undefined ? oddValue(random) : plausibleValue(random, items) }
}

function otherList(random: Random, list: readonly Json[], schema: Schema | undefined, name: string): Json[] {
  switch (random(5)) {
    case 0:
      return list.length === 0 ? [oddValue(random)] : [...list, structuredClone(pick(random, list))]
    case 1:
      return list.toReversed()
    case 2:
      return list.slice(1)
    default:
      return [...list, schema?.items === undefined ? oddValue(random) : plausibleValue(random, schema.items, name)]
  }
}

/** JSON text with a key that is repeated or in another case. */
export function oddText(random: Random, object: JsonObject): string {
  const text = JSON.stringify(object)
  const keys = [...text.matchAll(/[{,]"([a-z]\w*)":/gi)]
  if (keys.length === 0) return text
  const { index, 0: found, 1: key = "" } = pick(random, keys)
  const before = text.slice(0, index + 1)
  const after = text.slice(index + found.length)
  if (random(2) === 0) return `${before}"${key.toUpperCase()}":${after}`
  // Of the same type: errors about the type of the first value are peculiar to upstream.
  const other = after.startsWith('"') ? '"other"' : "null"
  return `${before}"${key}":${other},"${key}":${after}`
}
