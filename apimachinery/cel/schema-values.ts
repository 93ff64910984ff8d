// JSON as values of expressions, with the types of its schema and converted lazily. Source:
// k8s.io/apiserver/pkg/cel/common/valuesunstructured.go.

import { dictionary } from "../dictionary.ts"
import { isDeepStrictEqual } from "node:util"
import type { Json } from "../object.ts"
import { isInteger } from "../schema/exact-integers.ts"
import { isObject, type JsonObject } from "../schema/json-object.ts"
import { areEqual } from "./compare.ts"
import { escapeIdentifier, unescapeIdentifier } from "./syntax/identifiers.ts"
import { parseDuration, parseTimestamp } from "./functions/time.ts"
import { ArrayList, CelError, itemsOf, keyOf, ListValue, MapValue, OpaqueValue, type Value } from "./values.ts"

const text: JsonObject = { type: "string" }
const metadata: JsonObject = { type: "object", properties: { name: text, generateName: text } }

/** Adds apiVersion, kind and metadata as expressions may use them. */
export function wholeObject(schema: JsonObject): JsonObject {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {}
  return { ...schema, properties: { ...properties, kind: text, apiVersion: text, metadata } }
}

export function schemaValue(json: Json, schema: JsonObject): Value {
  if (json === null) {
    return schema["nullable"] === true ? null : new CelError("invalid data, got null for schema with nullable=false")
  }
  if (schema["x-kubernetes-int-or-string"] === true) {
    if (typeof json === "string") return json
    if (isInteger(json)) return BigInt(json)
    return new CelError("invalid data, expected XIntOrString value to be either a string or integer")
  }
  switch (schema["type"]) {
    case "object":
      return isObject(json) ? objectValue(json, schema) : mismatch("a map for the provided schema with type=object")
    case "array":
      return Array.isArray(json)
        ? listValue(json, schema)
        : mismatch("an array for the provided schema with type=array")
    case "string":
      return typeof json === "string" ? stringValue(json, schema["format"]) : mismatch("string")
    case "number":
      return typeof json === "number" || typeof json === "bigint" ? Number(json) : mismatch("float")
    case "integer":
      return isInteger(json) ? BigInt(json) : mismatch("int")
    case "boolean":
      return typeof json === "boolean" ? json : mismatch("bool")
    default:
      return new Unknown(json)
  }
}

function mismatch(expected: string): CelError {
  return new CelError(`invalid data, expected ${expected}`)
}

function stringValue(json: string, format: Json | undefined): Value {
  switch (format) {
    case "duration":
      return parseDuration(json) ?? wordsDuration(json) ?? new CelError(`Invalid duration ${json}`)
    case "date":
      return parseTimestamp(`${json}T00:00:00Z`) ?? new CelError(`Invalid date formatted string ${json}`)
    case "date-time":
      return parseTimestamp(json.toUpperCase()) ?? new CelError(`Invalid date-time formatted string ${json}`)
    case "byte":
      return Buffer.from(json, "base64")
    default:
      return json
  }
}

/** "3 days": the format allows more than Go's durations. */
function wordsDuration(json: string): Value | undefined {
  const units: Readonly<Record<string, string>> = dictionary({ w: "168h", d: "24h", h: "1h", m: "1m", s: "1s" })
  const parts = [...json.matchAll(/(\d{1,9})\s*([A-Za-zµ]+)/g)].map(([, amount, unit = ""]) => {
    const small = /^(n|u|µ|mi(?:lli|cro)|ms)/.exec(unit)?.[1]
    if (small !== undefined)
      return `${amount}${{ n: "ns", u: "us", µ: "us", milli: "ms", micro: "us", ms: "ms" }[small] ?? "ns"}`
    const whole = /^(\d+)([hms])$/.exec(units[unit[0] ?? ""] ?? "")
    return whole === null ? "" : `${Number(amount) * Number(whole[1])}${whole[2]}`
  })
  return parts.length === 0 || parts.includes("") ? undefined : parseDuration(parts.join(""))
}

function objectValue(json: JsonObject, schema: JsonObject): Value {
  const whole = schema["x-kubernetes-embedded-resource"] === true ? wholeObject(schema) : schema
  const { properties, additionalProperties } = whole
  if (isObject(properties)) return new SchemaObject(json, properties)
  return new SchemaMap(json, isObject(additionalProperties) ? additionalProperties : undefined)
}

/** Fields by their escaped names; fields unknown to the schema are counted and compared, but not accessible. */
class SchemaObject extends MapValue {
  readonly typeName = "map"
  readonly json: JsonObject
  readonly #properties: JsonObject

  constructor(json: JsonObject, properties: JsonObject) {
    super()
    this.json = json
    this.#properties = properties
  }

  get size(): number {
    return Object.keys(this.json).length
  }

  get(key: Value): Value | undefined {
    if (typeof key !== "string") return new CelError("no such overload")
    const name = unescapeIdentifier(key)
    if (name === undefined || !Object.hasOwn(this.json, name) || !Object.hasOwn(this.#properties, name))
      return undefined
    const [value, schema] = [this.json[name], this.#properties[name]]
    return value === undefined || value === null || !isObject(schema) ? undefined : schemaValue(value, schema)
  }

  keys(): Value[] {
    return Object.keys(this.json)
      .filter((name) => Object.hasOwn(this.#properties, name))
      .map((name) => escapeIdentifier(name) ?? name)
  }

  override equals(other: MapValue): boolean {
    if (this.size !== other.size) return false
    const isSame = this.keys().every((key) => {
      const [mine, theirs] = [this.get(key), other.get(key)]
      return mine === undefined || theirs === undefined ? mine === theirs : areEqual(mine, theirs)
    })
    if (!isSame || !(other instanceof SchemaObject)) return isSame
    return Object.entries(this.json).every(
      ([name, value]) =>
        Object.hasOwn(this.#properties, name) ||
        !Object.hasOwn(other.json, name) ||
        isDeepStrictEqual(value, other.json[name]),
    )
  }
}

class SchemaMap extends MapValue {
  readonly typeName = "map"
  readonly #json: JsonObject
  readonly #values: JsonObject | undefined

  constructor(json: JsonObject, values: JsonObject | undefined) {
    super()
    this.#json = json
    this.#values = values
  }

  get size(): number {
    return Object.keys(this.#json).length
  }

  get(key: Value): Value | undefined {
    if (typeof key !== "string") return new CelError("no such overload")
    const value = Object.hasOwn(this.#json, key) ? this.#json[key] : undefined
    return value === undefined || this.#values === undefined ? undefined : schemaValue(value, this.#values)
  }

  keys(): Value[] {
    return this.#values === undefined ? [] : Object.keys(this.#json)
  }
}

function listValue(json: readonly Json[], schema: JsonObject): Value {
  const { items } = schema
  if (!isObject(items)) return new CelError("invalid array type, expected Items with a non-empty Schema")
  const values = new LazyItems(json, items)
  const keys = schema["x-kubernetes-list-map-keys"]
  switch (schema["x-kubernetes-list-type"]) {
    case "map":
      return new KeyedList(values, Array.isArray(keys) ? (keys as string[]) : [])
    case "set":
      return new KeyedList(values, undefined)
    default:
      return values
  }
}

class LazyItems extends ListValue {
  readonly #json: readonly Json[]
  readonly #schema: JsonObject
  readonly #made: Value[] = []

  constructor(json: readonly Json[], schema: JsonObject) {
    super()
    this.#json = json
    this.#schema = schema
  }

  get size(): number {
    return this.#json.length
  }

  at(index: number): Value {
    return (this.#made[index] ??= schemaValue(this.#json[index] ?? null, this.#schema))
  }
}

/** A list of type map (with keys) or set: the order is ignored, and adding replaces existing items. */
class KeyedList extends ListValue {
  readonly #items: ListValue
  readonly #keys: readonly string[] | undefined
  #byKey: ReadonlyMap<unknown, Value> | undefined

  constructor(items: ListValue, keys: readonly string[] | undefined) {
    super()
    this.#items = items
    this.#keys = keys
  }

  get size(): number {
    return this.#items.size
  }

  at(index: number): Value {
    return this.#items.at(index)
  }

  #keyOf(item: Value): unknown {
    if (this.#keys === undefined) return keyOf(item)
    if (!(item instanceof MapValue)) return item
    const parts = this.#keys.map((name) => keyOf(item.get(escapeIdentifier(name) ?? name) ?? null))
    return parts.length === 1 ? parts[0] : JSON.stringify(parts.map(String))
  }

  #index(): ReadonlyMap<unknown, Value> {
    return (this.#byKey ??= new Map(Array.from(itemsOf(this), (item) => [this.#keyOf(item), item])))
  }

  override equals(other: ListValue): boolean {
    if (this.size !== other.size) return false
    const index = this.#index()
    for (const item of itemsOf(other)) {
      const mine = index.get(this.#keyOf(item))
      if (mine === undefined || !areEqual(mine, item)) return false
    }
    return true
  }

  override concat(other: ListValue): Value {
    const merged = new Map(this.#index())
    for (const item of itemsOf(other)) merged.set(this.#keyOf(item), item)
    return new KeyedList(new ArrayList([...merged.values()]), this.#keys)
  }
}

/** A value preserved without a schema: it can only be compared. */
class Unknown extends OpaqueValue {
  readonly typeName = "unknown"
  readonly #json: Json

  constructor(json: Json) {
    super()
    this.#json = json
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Unknown && isDeepStrictEqual(this.#json, other.#json)
  }
}
