// JSON without a schema as values of expressions, converted lazily; and the reverse conversion.

import type { Json } from "../object.ts"
import { narrowest } from "../schema/exact-integers.ts"
import { isObject, type JsonObject, setOwn } from "../schema/json-object.ts"
import { conversions } from "./functions/convert.ts"
import { Duration, itemsOf, ListValue, MapValue, Optional, Timestamp, UInt, type Value } from "./values.ts"
import { step } from "./work.ts"

/** Integers become ints. */
export function jsonValue(json: Json | undefined): Value {
  if (json === undefined || json === null) return null
  if (typeof json === "number") return Number.isInteger(json) ? BigInt(json) : json
  if (Array.isArray(json)) return new JsonList(json, jsonValue)
  return isObject(json) ? new JsonMap(json, jsonValue) : json
}

type ValueOf = (json: Json | undefined) => Value

/** `valueOf`: of the items. */
export class JsonList extends ListValue {
  readonly #json: readonly Json[]
  readonly #valueOf: ValueOf

  constructor(json: readonly Json[], valueOf: ValueOf) {
    super()
    this.#json = json
    this.#valueOf = valueOf
  }

  get size(): number {
    return this.#json.length
  }

  at(index: number): Value {
    return this.#valueOf(this.#json[index])
  }
}

/** `valueOf`: of the fields. */
export class JsonMap extends MapValue {
  readonly typeName: string = "map"
  readonly json: JsonObject
  readonly #valueOf: ValueOf

  constructor(json: JsonObject, valueOf: ValueOf) {
    super()
    this.json = json
    this.#valueOf = valueOf
  }

  get size(): number {
    return Object.keys(this.json).length
  }

  get(key: Value): Value | undefined {
    return typeof key === "string" && Object.hasOwn(this.json, key) ? this.#valueOf(this.json[key]) : undefined
  }

  keys(): Value[] {
    return Object.keys(this.json)
  }
}

/** A value that cannot be converted to JSON; the message is its type. */
export class NoJson extends Error {}

export function toJson(value: Value): Json {
  step()
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number")
    return value
  if (typeof value === "bigint") return narrowest(value)
  if (value instanceof UInt) return narrowest(value.value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64")
  if (value instanceof ListValue) return [...itemsOf(value)].map(toJson)
  if (value instanceof MapValue) {
    const object: JsonObject = {}
    for (const key of value.keys()) {
      if (typeof key !== "string") throw new NoJson("map key is not a string")
      setOwn(object, key, toJson(value.get(key) as Value))
    }
    return object
  }
  if (value instanceof Optional) return value.value === undefined ? null : toJson(value.value)
  if (value instanceof Timestamp || value instanceof Duration) return toJson(conversions["string"]?.(value) ?? null)
  throw new NoJson(`a value of type ${"typeName" in value ? String(value.typeName) : "type"} is no JSON`)
}
