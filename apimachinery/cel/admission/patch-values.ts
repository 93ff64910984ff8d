// Object{spec: Object.spec{…}} and JSONPatch{op: …}: the results of mutating policies. Source: k8s.io/apiserver/pkg/cel/mutation.

import type { Json } from "../../object.ts"
import { toJson } from "../json-values.ts"
import { dynType, opaqueType, stringType, type Type } from "../types/types.ts"
import { CelError, itemsOf, ListValue, MapValue, OpaqueValue, Optional, type Value } from "../values.ts"

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
      return new CelError(`unexpected type for JSONPatchType '${field}' field`)
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
}

export class JsonPatchValue extends OpaqueValue {
  readonly typeName = "JSONPatch"
  readonly #fields: ReadonlyMap<string, Value>

  constructor(fields: ReadonlyMap<string, Value>) {
    super()
    this.#fields = fields
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof JsonPatchValue && JSON.stringify(other.operation()) === JSON.stringify(this.operation())
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
      ...(value === undefined ? {} : { value: toJson(value) }),
    }
  }

  get value(): Value | undefined {
    return this.#fields.get("value")
  }
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
 * misplaced ones.
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
