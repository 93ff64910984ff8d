// JSON as values of expressions, with the types of its schema and converted lazily. Source:
// k8s.io/apiserver/pkg/cel/common/valuesunstructured.go.

import { isDeepStrictEqual } from "node:util"
import type { Json } from "../object.ts"
import { isGivenFraction } from "../schema/decode/given.ts"
import { isInteger } from "../schema/exact-integers.ts"
import { isObject, type JsonObject, ownValue } from "../schema/json-object.ts"
import { equal } from "./compare.ts"
import { escapeIdentifier, unescapeIdentifier } from "./syntax/identifiers.ts"
import { wholeObject } from "./types/declared-type.ts"
import { formatValue } from "./format-values.ts"
import { JsonList, JsonMap, jsonValue } from "./json-values.ts"
import { jsonIdentity, KeyedList, SetList } from "./typed-lists.ts"
import { CelError, ListValue, MapValue, noOverload, OpaqueValue, type Value } from "./values.ts"

/** `isDouble`: a whole number that was given as a double, which is no integer. */
export function schemaValue(json: Json, schema: JsonObject, isDouble = false): Value {
  if (json === null) {
    return schema["nullable"] === true ? null : new CelError("invalid data, got null for schema with nullable=false")
  }
  if (schema["x-kubernetes-int-or-string"] === true) {
    if (typeof json === "string") return json
    if (isInteger(json) && !isDouble) return BigInt(json)
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
      if (typeof json !== "string") return mismatch(`string, got ${goType(json)}`)
      return typeof schema["format"] === "string" ? formatValue(json, schema["format"]) : json
    case "number":
      return typeof json === "number" || typeof json === "bigint"
        ? Number(json)
        : mismatch(`float, got ${goType(json)}`)
    case "integer":
      if (isDouble) return mismatch("int, got float64")
      return isInteger(json) ? BigInt(json) : mismatch(`int, got ${goType(json)}`)
    case "boolean":
      return typeof json === "boolean" ? json : mismatch(`bool, got ${goType(json)}`)
    default:
      return new Unknown(json)
  }
}

function mismatch(expected: string): CelError {
  return new CelError(`invalid data, expected ${expected}`)
}

/** Go's type of the value: the schema may be newer than it. */
function goType(json: Json): string {
  if (Array.isArray(json)) return "[]interface {}"
  if (isObject(json)) return "map[string]interface {}"
  if (typeof json === "boolean") return "bool"
  return typeof json === "string" ? "string" : isInteger(json) ? "int64" : "float64"
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
    if (value === undefined || value === null || !isObject(schema)) return undefined
    return schemaValue(value, schema, isGivenFraction(this.json, name))
  }

  keys(): Value[] {
    return Object.keys(this.json)
      .filter((name) => Object.hasOwn(this.#properties, name))
      .map((name) => escapeIdentifier(name) ?? name)
  }

  override equals(other: MapValue): boolean | CelError {
    if (this.size !== other.size) return false
    for (const [name, value] of Object.entries(this.json)) {
      const isSame = Object.hasOwn(this.#properties, name)
        ? haveSame(this, other, name)
        : isSameUnknown(value, other, name)
      if (isSame !== true) return isSame
    }
    return true
  }

  override withoutSchema(): Value {
    return jsonValue(this.json)
  }
}

/** As upstream, the name is that of a field, and read as the one that expressions have for it. */
function haveSame(one: MapValue, other: MapValue, name: string): boolean | CelError {
  const [mine, theirs] = [one.get(name), other.get(name)]
  return mine === undefined || theirs === undefined ? mine === theirs : equal(mine, theirs)
}

function isSameUnknown(value: Json, other: MapValue, name: string): boolean | CelError {
  if (!(other instanceof SchemaObject)) return noOverload
  return !Object.hasOwn(other.json, name) || isDeepStrictEqual(value, other.json[name])
}

class SchemaMap extends MapValue {
  readonly typeName = "map"
  readonly json: JsonObject
  readonly #values: JsonObject | undefined

  constructor(json: JsonObject, values: JsonObject | undefined) {
    super()
    this.json = json
    this.#values = values
  }

  get size(): number {
    return Object.keys(this.json).length
  }

  get(key: Value): Value | undefined {
    if (typeof key !== "string") return new CelError("no such overload")
    const value = Object.hasOwn(this.json, key) ? this.json[key] : undefined
    if (value === undefined || this.#values === undefined) return undefined
    return schemaValue(value, this.#values, isGivenFraction(this.json, key))
  }

  keys(): Value[] {
    return this.#values === undefined ? [] : Object.keys(this.json)
  }

  override withoutSchema(): Value {
    return jsonValue(this.json)
  }
}

function listValue(json: readonly Json[], schema: JsonObject): Value {
  const { items } = schema
  if (!isObject(items)) return new CelError("invalid array type, expected Items with a non-empty Schema")
  const values = new LazyItems(json, items)
  const keys = schema["x-kubernetes-list-map-keys"]
  switch (schema["x-kubernetes-list-type"]) {
    case "map":
      return new KeyedList(values, () => json.map(mapKeysOf(keys)), mapKeysOf(keys))
    case "set":
      return new SetList(values, () => json.map(jsonIdentity))
    default:
      return values
  }
}

/** What identifies an item of a list map: its keys, under the names that expressions have for them. */
function mapKeysOf(keys: Json | undefined): (item: unknown) => string | undefined {
  const names = (Array.isArray(keys) ? (keys as string[]) : []).map((name) => escapeIdentifier(name) ?? name)
  return (item) => {
    const isMap = item instanceof SchemaObject || item instanceof SchemaMap || item instanceof JsonMap
    const json = isMap ? item.json : (item as Json)
    return isObject(json) ? JSON.stringify(names.map((name) => jsonIdentity(ownValue(json, name) ?? null))) : undefined
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
    const json = this.#json
    return (this.#made[index] ??= schemaValue(json[index] ?? null, this.#schema, isGivenFraction(json, index)))
  }

  override withoutSchema(): Value {
    return new JsonList(this.#json, jsonValue)
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
