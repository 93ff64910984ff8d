// Changes of an object that its schema mostly refuses, or that a rule about changes does.

import type { Json } from "../../../apimachinery/object.ts"
import { chance, pick, type Random } from "../../../apimachinery/testing/random.ts"
import type { FieldPath } from "../differential/generate/fields.ts"
import type { JsonObject } from "../differential/generate/objects.ts"
import { replaced } from "../differential/random/mutate.ts"
import { isJsonObject, oddValue } from "../differential/random/values.ts"
import { Values } from "./values.ts"

interface Place {
  path: FieldPath
  value: Json
  schema: JsonObject
}

/** Longer texts and lists are not made to be too long. */
const longest = 5000

/** A copy with one to three changes below its spec and whatever else it has. */
export function withMistakes(random: Random, object: JsonObject, schema: JsonObject): JsonObject {
  let result: Json = object
  for (let count = 1 + random(3); count > 0; count--) {
    const places = placesOf(result, schema, []).filter(({ path }) => path.length > 0 && !named.has(String(path[0])))
    if (places.length === 0) break
    const place = pick(random, places)
    const change = pick(random, changesOf(random, place))
    result = replaced(result, [...place.path, ...change.path], change.by)
  }
  return result as JsonObject
}

const named: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"])

function placesOf(value: Json, schema: JsonObject, path: FieldPath): Place[] {
  const here = { path, value, schema }
  const { items, properties, additionalProperties } = schema
  if (Array.isArray(value)) {
    const of = isJsonObject(items) ? items : {}
    return [here, ...value.flatMap((item, index) => placesOf(item, of, [...path, index]))]
  }
  if (!isJsonObject(value)) return [here]
  const inner = Object.entries(value).flatMap(([name, item]) => {
    const field = isJsonObject(properties) ? properties[name] : undefined
    const of = isJsonObject(field) ? field : isJsonObject(additionalProperties) ? additionalProperties : {}
    return placesOf(item, of, [...path, name])
  })
  return [here, ...inner]
}

interface Change {
  path: FieldPath
  /** Undefined: it is taken away. */
  by: Json | undefined
}

const here = (by: Json | undefined): Change => ({ path: [], by })

function changesOf(random: Random, place: Place): Change[] {
  const another = new Values(random, 0.4).of(place.schema)
  const any = [here(undefined), here(null), here(oddValue(random)), here(another), here(another), here(another)]
  return [...any, ...ofType(random, place), ...ofType(random, place)]
}

function ofType(random: Random, { value, schema }: Place): Change[] {
  if (Array.isArray(value)) return ofList(random, value, schema)
  if (isJsonObject(value)) return ofObject(random, value, schema)
  if (typeof value === "string") return ofText(value, schema)
  if (typeof value === "number")
    return [schema["minimum"], schema["maximum"]].flatMap((bound) =>
      typeof bound === "number"
        ? [here(bound), here(bound - 1), here(bound + 1)]
        : [here(-value - 1), here(value + 0.5)],
    )
  return [here(!(value === true)), here("true")]
}

function ofText(value: string, { maxLength, minLength }: JsonObject): Change[] {
  const most = Number(maxLength ?? longest)
  return [
    here(`${value}!`),
    here(""),
    ...(most < longest ? [here("x".repeat(most + 1))] : []),
    ...(Number(minLength ?? 0) > 1 ? [here("x")] : []),
  ]
}

function ofList(random: Random, list: readonly Json[], { items, maxItems }: JsonObject): Change[] {
  const more = isJsonObject(items) ? new Values(random, 0.3).of(items) : "a"
  const most = Number(maxItems ?? longest)
  return [
    here([...list, more]),
    here(list.toReversed()),
    here([]),
    ...(list.length > 0 ? [here([...list, structuredClone(pick(random, list))]), here([...list, null])] : []),
    ...(most < 200 ? [here(Array.from({ length: most + 1 }, () => structuredClone(list[0] ?? more)))] : []),
  ]
}

function ofObject(random: Random, value: JsonObject, { properties, additionalProperties }: JsonObject): Change[] {
  const field = Object.entries(isJsonObject(properties) ? properties : {}).filter(([, of]) => isJsonObject(of))
  const changes: Change[] = [{ path: ["unknown"], by: oddValue(random) }, here({})]
  if (isJsonObject(additionalProperties))
    changes.push({ path: ["Key!"], by: new Values(random, 0.3).of(additionalProperties) })
  for (let count = 0; count < 3 && field.length > 0; count++) {
    const [name, of] = pick(random, field)
    if (Object.hasOwn(value, name) && chance(random, 0.7)) changes.push({ path: [name], by: undefined })
    else changes.push({ path: [name], by: new Values(random, 0.4).of(of as JsonObject) })
  }
  return changes
}
