// The annotation that tolerations were before they were a field: it has no effect, but has to be what it was. It is read as Go's
// encoding/json reads into structs without tags. Source: k8s.io/kubernetes/pkg/apis/core/validation
// (ValidateTolerationsInPodAnnotations).

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { type FieldError, type FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import type { Json } from "../../../../apimachinery/object.ts"
import { what } from "../../../../apimachinery/schema/decode-errors.ts"
import { exactInteger } from "../../../../apimachinery/schema/exact-integers.ts"
import { isObject } from "../../../../apimachinery/schema/json-object.ts"
import { openingAt, scanJson, tooDeep } from "../../../../apimachinery/schema/json-scan.ts"
import { validateTolerations } from "./scheduling.ts"

export const tolerationsAnnotation = "scheduler.alpha.kubernetes.io/tolerations"

/** Of encoding/json; deeper than what is read here without complaint. */
const goDepth = 10_000

type Toleration = NonNullable<Parameters<typeof validateTolerations>[1]>[number]

interface Field {
  name: keyof Toleration
  goName: string
  goType: string
}

/** By their names in capitals: any case will do. */
const fields: Readonly<Record<string, Field>> = dictionary({
  KEY: { name: "key", goName: "Key", goType: "string" },
  OPERATOR: { name: "operator", goName: "Operator", goType: "core.TolerationOperator" },
  VALUE: { name: "value", goName: "Value", goType: "string" },
  EFFECT: { name: "effect", goName: "Effect", goType: "core.TaintEffect" },
  TOLERATIONSECONDS: { name: "tolerationSeconds", goName: "TolerationSeconds", goType: "int64" },
})

/** `path`: of the annotations. */
export function validateTolerationsAnnotation(path: FieldPath, text: string): FieldError[] {
  if (text === "") return []
  const read = readTolerations(text)
  if (typeof read === "string") return [invalidValue(path, tolerationsAnnotation, read)]
  return validateTolerations(path.child(tolerationsAnnotation), read)
}

/** A text says what is wrong first. */
function readTolerations(text: string): Toleration[] | string {
  let given: Json
  try {
    scanJson(text)
    given = JSON.parse(text, (_, value, { source }) => (typeof value === "number" ? numberOf(source ?? "") : value))
  } catch (error) {
    if (error instanceof SyntaxError) return error.message
    if (error instanceof RangeError)
      return `invalid character '${openingAt(Buffer.from(text), goDepth + 1)}' ${tooDeep}`
    throw error
  }
  if (given === null) return []
  if (!Array.isArray(given)) return `json: cannot unmarshal ${found(given)} into Go value of type []core.Toleration`
  const faults: string[] = []
  const tolerations = given.map((item) => readToleration(item, faults))
  return faults[0] ?? tolerations
}

function readToleration(item: Json, faults: string[]): Toleration {
  const toleration: Record<string, Json> = {}
  if (!isObject(item) || isLiteral(item)) {
    if (item !== null) faults.push(`json: cannot unmarshal ${found(item)} into Go value of type core.Toleration`)
    return toleration
  }
  for (const [name, value] of Object.entries(item)) {
    const field = fields[name.toLowerCase().toUpperCase()]
    if (field === undefined || value === null) continue
    if (typeof value === (field.goType === "int64" ? "bigint" : "string")) toleration[field.name] = value
    else {
      const literal = field.goType === "int64" && isLiteral(value) ? ` ${value.literal}` : ""
      const place = `Go struct field Toleration.${field.goName} of type ${field.goType}`
      faults.push(`json: cannot unmarshal ${found(value)}${literal} into ${place}`)
    }
  }
  return toleration
}

/** What is no integer of 64 bits is told as it was written. */
class Literal {
  readonly literal: string

  constructor(literal: string) {
    this.literal = literal
  }
}

function numberOf(source: string): Json {
  const exact = exactInteger(source)
  return exact === undefined ? (new Literal(source) as unknown as Json) : BigInt(exact)
}

const isLiteral = (value: Json): value is { literal: string } => (value as unknown) instanceof Literal

const found = (value: Json): string => (isLiteral(value) ? "number" : what(value))
