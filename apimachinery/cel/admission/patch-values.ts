// Object{spec: Object.spec{…}} and JSONPatch{op: …}: the results of mutating policies. Source: k8s.io/apiserver/pkg/cel/mutation.

import type { Json } from "../../object.ts"
import { type JsonObject, setOwn } from "../../schema/json-object.ts"
import { NoJson, toJson } from "../json-values.ts"
import { dynType, opaqueType, stringType, type Type } from "../types/types.ts"
import {
  CelError,
  itemsOf,
  ListValue,
  MapValue,
  OpaqueValue,
  Optional,
  TypeValue,
  UInt,
  type Value,
} from "../values.ts"
import { step } from "../work.ts"

const texts = new Set(["op", "path", "from"])

export function isPatchType(name: string): boolean {
  return name === "JSONPatch" || name === "Object" || name.startsWith("Object.")
}

/** Fields of objects may be anything: they are checked against the schema when the patch is applied. */
const noType = opaqueType("")

export function patchFieldType(name: string, field: string): Type | undefined {
  if (name !== "JSONPatch" || field === "value") return dynType
  // For upstream an unknown field has no type, which messages show.
  return texts.has(field) ? stringType : noType
}

export function constructPatchType(name: string, fields: ReadonlyMap<string, Value>): Value {
  if (name !== "JSONPatch") return new ObjectValue(name, fields)
  for (const [field, value] of fields) {
    if (texts.has(field) ? typeof value !== "string" : field !== "value") {
      const type = goTypeOf(value)
      return new CelError(`unexpected type ${type === undefined ? "" : `${type} `}for JSONPatchType '${field}' field`)
    }
  }
  return new JsonPatchValue(fields)
}

export class ObjectValue extends MapValue {
  readonly typeName: string
  readonly #fields: ReadonlyMap<string, Value>

  constructor(typeName: string, fields: ReadonlyMap<string, Value>) {
    super()
    this.typeName = typeName
    this.#fields = fields
  }

  get size(): number {
    return this.#fields.size
  }

  get(key: Value): Value | undefined {
    return typeof key === "string" ? this.#fields.get(key) : undefined
  }

  keys(): Value[] {
    return [...this.#fields.keys()]
  }

  entries(): Iterable<[string, Value]> {
    return this.#fields
  }
}

export class JsonPatchValue extends OpaqueValue {
  readonly typeName = "JSONPatch"
  readonly #fields: ReadonlyMap<string, Value>

  constructor(fields: ReadonlyMap<string, Value>) {
    super()
    this.#fields = fields
  }

  equals(other: OpaqueValue): boolean {
    if (!(other instanceof JsonPatchValue)) return false
    try {
      return JSON.stringify(other.operation()) === JSON.stringify(this.operation())
    } catch (error) {
      if (error instanceof NoJson) return false // the patch itself is refused for it
      throw error
    }
  }

  operation(): Json {
    const text = (field: string): string => {
      const value = this.#fields.get(field)
      return typeof value === "string" ? value : ""
    }
    const from = text("from")
    const value = this.#fields.get("value")
    return {
      op: text("op"),
      path: text("path"),
      ...(from === "" ? {} : { from }),
      ...(value === undefined ? {} : { value: patchJson(value) }),
    }
  }

  get value(): Value | undefined {
    return this.#fields.get("value")
  }
}

function goTypeOf(value: Value): string | undefined {
  if (typeof value === "bigint") return "int64"
  if (typeof value === "boolean") return "bool"
  if (typeof value === "number") return "float64"
  if (value === null) return "structpb.NullValue"
  return value instanceof UInt ? "uint64" : undefined
}

/** Beyond, integers are texts in the JSON of protobuf, which upstream makes of a patch's values. */
const maxSafe = BigInt(Number.MAX_SAFE_INTEGER)

function patchJson(value: Value): Json {
  step()
  if (value instanceof ObjectValue) return toJson(value)
  if (value instanceof UInt) return patchJson(value.value)
  if (typeof value === "bigint") return value > maxSafe || value < -maxSafe ? value.toString() : Number(value)
  if (typeof value === "number" && !Number.isFinite(value)) {
    const shown = Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"
    const why = `google.protobuf.Value.number_value: invalid ${shown} value`
    throw new NoJson(`json: error calling MarshalJSON for type *structpb.Value: proto: ${why}`)
  }
  if (value instanceof ListValue) return [...itemsOf(value)].map(patchJson)
  if (value instanceof MapValue) {
    const object: JsonObject = {}
    for (const key of value.keys()) setOwn(object, patchKey(key), patchJson(value.get(key) ?? null))
    return object
  }
  if (value instanceof Optional) {
    if (value.value === undefined) throw new NoJson("optional.none() dereference")
    return patchJson(value.value)
  }
  if (value instanceof TypeValue) throw new NoJson("type conversion not supported for 'type'")
  if (value instanceof OpaqueValue) {
    const name = String(value.typeName).split(".").at(-1) ?? ""
    throw new NoJson(`type conversion error from '${name}' to '*structpb.Value'`)
  }
  return toJson(value)
}

function patchKey(key: Value): string {
  if (typeof key === "string") return key
  if (typeof key === "boolean") throw new NoJson("type conversion error from bool to 'string'")
  throw new NoJson(`unsupported type conversion from '${key instanceof UInt ? "uint" : "int"}' to string`)
}

/** Of a result, characters and values: more than an object may have. */
const maxSize = 4 * 1024 * 1024

/** A result may contain lists that contain each other, so that it would have 2¹⁰⁰ items as JSON. */
export function isTooLarge(result: Value): boolean {
  let size = 0
  const visit = (value: Value): boolean => {
    size += typeof value === "string" ? 1 + value.length : 1
    if (size > maxSize) return true
    if (value instanceof JsonPatchValue) return value.value !== undefined && visit(value.value)
    if (value instanceof Optional) return value.value !== undefined && visit(value.value)
    if (value instanceof MapValue) return value.keys().some((key) => visit(key) || visit(value.get(key) ?? null))
    if (value instanceof ListValue) for (const item of itemsOf(value)) if (visit(item)) return true
    return false
  }
  return visit(result)
}

/**
 * Object types are named by their path: Object.spec belongs into the field spec of Object. Returns upstream's messages about
 * misplaced ones. `path`: of the value itself, which is that of its type where it may be anywhere.
 */
export function misplacedTypes(value: Value, path: string): string[] {
  if (value instanceof ListValue) return [...itemsOf(value)].flatMap((item) => misplacedTypes(item, path))
  if (!(value instanceof MapValue)) return []
  const isNamed = value instanceof ObjectValue
  const own =
    isNamed && value.typeName !== path
      ? [
          `unexpected type name ${JSON.stringify(value.typeName)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`,
        ]
      : []
  const inner = value
    .keys()
    .flatMap((key) => misplacedTypes(value.get(key) ?? null, isNamed ? `${path}.${String(key as string)}` : path))
  return [...own, ...inner]
}
