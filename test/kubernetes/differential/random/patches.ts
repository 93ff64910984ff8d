// Random patch bodies of every type.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { FieldPath } from "../generate/fields.ts"
import type { JsonObject, Kind } from "../generate/objects.ts"
import { apiVersionOf } from "../../../conformance/minimal-objects.ts"
import { applyPatch, jsonPatch, mergePatch, strategicPatch } from "../scenario.ts"
import { mutated, placesOf, replaced } from "./mutate.ts"
import { isJsonObject, oddValue, plausibleValue, randomKey } from "./values.ts"

interface RandomPatch {
  contentType: string
  body: Json
  /** The field manager of an apply; undefined for other patches. */
  manager?: string
}

export function randomPatch(random: Random, kind: Kind, object: JsonObject): RandomPatch {
  switch (random(5)) {
    case 0:
      return { contentType: jsonPatch, body: operations(random, kind, object) }
    case 1:
      return { contentType: mergePatch, body: merge(random, kind, object) }
    case 2:
      return { contentType: strategicPatch, body: strategic(random, kind, object) }
    default:
      return {
        contentType: applyPatch,
        body: configuration(random, kind, object),
        manager: pick(random, ["one", "two"]),
      }
  }
}

const pointer = (path: FieldPath): string =>
  path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

function operations(random: Random, kind: Kind, object: JsonObject): Json {
  // Without the root: a missing value there crashes upstream's process.
  const places = placesOf(object, kind.schema).filter(({ path }) => path.length > 0)
  return Array.from({ length: 1 + random(3) }, (): Json => {
    const place = pick(random, places)
    const path = pointer(place.path)
    const name = String(place.path.at(-1) ?? "")
    const value = place.schema === undefined ? oddValue(random) : plausibleValue(random, place.schema, name)
    switch (random(9)) {
      case 0:
        return { op: "replace", path, value }
      case 1:
        return {
          op: "add",
          path: Array.isArray(place.value) ? `${path}/${pick(random, ["-", "0", "1", "7", "-1", "x", "01"])}` : path,
          value: itemOf(random, place.value) ?? value,
        }
      case 2:
        return { op: "add", path: `${path}/${randomKey(random).replaceAll("/", "~1")}`, value: oddValue(random) }
      case 3:
        return { op: "remove", path: chance(random, 0.8) ? path : `${path}/absent` }
      case 4:
        return { op: "copy", from: path, path: pointer(pick(random, places).path) }
      case 5:
        return { op: "move", from: path, path: pointer(pick(random, places).path) }
      case 6:
        return { op: "test", path, value: chance(random, 0.6) ? place.value : oddValue(random) }
      case 7:
        return { op: pick(random, ["replace", "add", "remove", "test", "copy", "bogus", "ADD"]), path }
      default:
        return { op: "replace", path, value: oddValue(random) }
    }
  })
}

function itemOf(random: Random, value: Json): Json | undefined {
  return Array.isArray(value) && value.length > 0 ? pick(random, value) : undefined
}

/** Parts of another object, and nulls. */
function merge(random: Random, kind: Kind, object: JsonObject): Json {
  if (chance(random, 0.05)) return oddValue(random)
  const other = mutated(random, object, kind.schema)
  const places = placesOf(other, kind.schema).filter(({ path }) => path.length > 0)
  let body: Json = {}
  if (places.length === 0) return body // nothing was left
  for (let count = 0; count <= random(3); count++) {
    const { path, value } = pick(random, places)
    // Merge patches contain complete lists, so a path ends at the first list.
    const end = path.findIndex((step) => typeof step === "number")
    const at = end === -1 ? path : path.slice(0, end)
    if (at.length === 0) continue
    const whole =
      end === -1
        ? value
        : (placesOf(other, kind.schema).find((place) => pointer(place.path) === pointer(at))?.value ?? null)
    body = replaced(body, at, chance(random, 0.2) ? null : whole)
  }
  return body
}

/** A merge with directives in objects and lists. */
function strategic(random: Random, kind: Kind, object: JsonObject): Json {
  let body = merge(random, kind, object)
  if (chance(random, 0.4)) return body
  const places = placesOf(body, kind.schema)
  for (let count = 0; count <= random(2); count++) {
    const { path, value } = pick(random, places)
    const key = path.findLast((step) => typeof step === "string")
    const beside = path.slice(0, path.lastIndexOf(key ?? ""))
    if (isJsonObject(value))
      body = replaced(body, [...path, ...directive(random, value).path], directive(random, value).value)
    else if (Array.isArray(value) && key !== undefined && isJsonObject(body)) {
      const word = pick(random, ["$setElementOrder", "$deleteFromPrimitiveList"])
      body = replaced(body, [...beside, `${word}/${key}`], chance(random, 0.8) ? value.toReversed() : oddValue(random))
    }
  }
  return body
}

function directive(random: Random, value: JsonObject): { path: FieldPath; value: Json } {
  const keys = Object.keys(value)
  if (chance(random, 0.3)) return { path: ["$retainKeys"], value: chance(random, 0.8) ? keys : keys.slice(1) }
  return { path: ["$patch"], value: pick(random, ["replace", "delete", "merge", "bogus"]) }
}

/** The configuration of one manager: some of the object's fields. */
function configuration(random: Random, kind: Kind, object: JsonObject): Json {
  const other = mutated(random, object, kind.schema, random(3))
  let body: Json = other
  const places = placesOf(other, kind.schema).filter(
    ({ path }) => path.length > 1 && path.join(".") !== "metadata.name",
  )
  for (let count = 0; count < random(4) && places.length > 0; count++) {
    const { path } = pick(random, places)
    if (placesOf(body, kind.schema).some((place) => pointer(place.path) === pointer(path)))
      body = replaced(body, path, undefined)
  }
  return { apiVersion: apiVersionOf(kind.facts), kind: kind.facts.kind, ...(body as JsonObject) }
}
