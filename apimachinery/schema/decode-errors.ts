// What the decoder says of a JSON value of a wrong type: Go's sentence, with Go's names of types and fields.

import type { Json } from "../object.ts"
import type { FieldSchema, Schema } from "./schema.ts"

/** A JSON value of a wrong type at a path; the sentence is made only when it is the answer. */
export class Mismatch extends Error {
  readonly #path: readonly (string | number)[]
  readonly #what: string
  readonly #expected: Schema

  constructor(path: readonly (string | number)[], found: string, expected: Schema) {
    super("mismatch")
    this.#path = [...path]
    this.#what = found
    this.#expected = expected
  }

  /** The same, told from that many steps further down. */
  below(depth: number): Mismatch {
    return new Mismatch(this.#path.slice(depth), this.#what, this.#expected)
  }

  /** "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32". */
  explain(root: Schema): string {
    const cannot = `json: cannot unmarshal ${this.#what} into Go`
    const names: string[] = []
    let at: Schema | undefined = root
    let struct: Schema = root
    let type = goTypeOf(root)
    for (const step of this.#path) {
      if (at?.type === "object" && typeof step === "string") {
        const field: FieldSchema | undefined = at.fields?.[step]
        struct = at
        const embedded = field?.in ?? (isOfTypeMeta(at, step) && at !== root ? "TypeMeta" : undefined)
        names.push(...(embedded === undefined ? [step] : [embedded, step]))
        type = field?.goType ?? (field === undefined ? "" : goTypeOf(field.schema))
        at = field?.schema
      } else {
        type = elementType(type, at?.items)
        at = at?.items
      }
    }
    if (this.#expected.type === "intOrString") type = "int32"
    if (this.#expected.format === "time" || this.#expected.format === "microTime") type = "string"
    if (names.length === 0) return `${cannot} value of type ${type}`
    return `${cannot} struct field ${lastWord(struct.name ?? "")}.${names.join(".")} of type ${type}`
  }
}

/** Kind and version of an object within the object. */
function isOfTypeMeta({ fields }: Schema, step: string): boolean {
  return (step === "kind" || step === "apiVersion") && fields?.["metadata"] !== undefined
}

function lastWord(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1)
}

const goTypes: Record<string, string> = {
  boolean: "bool",
  number: "float64",
  intOrString: "intstr.IntOrString",
  quantity: "resource.Quantity",
  byte: "[]uint8",
}

/** How Go prints the type of a schema without a type name of its own. */
function goTypeOf(schema: Schema): string {
  if (schema.name !== undefined) return schema.name.split(".").slice(-2).join(".")
  if (schema.type === "list") return `[]${schema.items === undefined ? "" : goTypeOf(schema.items)}`
  if (schema.type === "map") return `map[string]${schema.items === undefined ? "" : goTypeOf(schema.items)}`
  return (
    goTypes[schema.format ?? ""] ?? (schema.type === "integer" ? schema.format : goTypes[schema.type]) ?? schema.type
  )
}

function elementType(type: string, items: Schema | undefined): string {
  const match = /^(?:\[\]|map\[[^\]]*\])\*?(.+)$/.exec(type)
  return match?.[1] ?? (items === undefined ? "" : goTypeOf(items))
}

export function what(value: Json): string {
  if (Array.isArray(value)) return "array"
  return typeof value === "boolean" ? "bool" : typeof value === "bigint" ? "number" : typeof value
}
