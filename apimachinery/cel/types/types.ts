// The types of the type checker. Source: cel-spec/doc/langdef.md#types.

import { UInt } from "../values.ts"

type TypeKind =
  /** Like dyn, but cannot be iterated over: what upstream declares as google.protobuf.Any. */
  | "any"
  | "bool"
  | "bytes"
  | "double"
  | "duration"
  | "dyn"
  | "error"
  | "int"
  | "list"
  | "map"
  | "null"
  /** A named type without fields, with parameters: optional_type(int), net.IP. */
  | "opaque"
  | "string"
  /** A named type whose fields are declared by the environment. */
  | "struct"
  | "timestamp"
  | "type"
  /** A type that is not known yet. */
  | "parameter"
  | "uint"

export interface Type {
  readonly kind: TypeKind
  /** The name in expressions; for a parameter its own name. */
  readonly name: string
  readonly parameters: readonly Type[]
}

function simple(kind: TypeKind, name: string = kind): Type {
  return { kind, name, parameters: [] }
}

export const anyType = simple("any", "google.protobuf.Any")
export const boolType = simple("bool")
export const bytesType = simple("bytes")
export const doubleType = simple("double")
export const durationType = simple("duration", "google.protobuf.Duration")
export const dynType = simple("dyn")
export const errorType = simple("error")
export const intType = simple("int")
export const nullType = simple("null", "null_type")
export const stringType = simple("string")
export const timestampType = simple("timestamp", "google.protobuf.Timestamp")
export const uintType = simple("uint")

export function listType(items: Type): Type {
  return { kind: "list", name: "list", parameters: [items] }
}

export function mapType(keys: Type, values: Type): Type {
  return { kind: "map", name: "map", parameters: [keys, values] }
}

export function typeType(of?: Type): Type {
  return { kind: "type", name: "type", parameters: of === undefined ? [] : [of] }
}

export function structType(name: string): Type {
  return simple("struct", name)
}

export function opaqueType(name: string, ...parameters: Type[]): Type {
  return { kind: "opaque", name, parameters }
}

export function optionalType(of: Type): Type {
  return opaqueType("optional_type", of)
}

export function typeParameter(name: string): Type {
  return simple("parameter", name)
}

/** Anything may be assigned to it, and it to anything. */
export function isDynamic({ kind }: Type): boolean {
  return kind === "dyn" || kind === "any"
}

export function isOptional(type: Type): boolean {
  return type.kind === "opaque" && type.name === "optional_type"
}

/** The type inside an optional, or the type itself. */
export function unwrapOptional(type: Type): Type {
  return isOptional(type) ? (type.parameters[0] ?? dynType) : type
}

export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true
  if (a.kind !== b.kind || a.name !== b.name || a.parameters.length !== b.parameters.length) return false
  return a.parameters.every((parameter, index) => sameType(parameter, b.parameters[index] as Type))
}

const shown: Partial<Record<TypeKind, string>> = {
  any: "any",
  duration: "duration",
  error: "!error!",
  null: "null",
  timestamp: "timestamp",
}

/** Formatted as in errors. */
export function printType(type: Type): string {
  const known = shown[type.kind]
  if (known !== undefined) return known
  if (type.parameters.length === 0) return type.name
  return `${type.name}(${type.parameters.map(printType).join(", ")})`
}

/** Formatted as Go prints a type. */
export function printGoType({ name, parameters }: Type): string {
  return parameters.length === 0 ? name : `${name}(${parameters.map(printGoType).join(", ")})`
}

const byName = new Map<string, Type>(
  [boolType, bytesType, doubleType, dynType, intType, stringType, uintType].map((type) => [type.name, type]),
)
byName.set("duration", durationType)
byName.set("timestamp", timestampType)
byName.set("type", typeType())
byName.set("null_type", nullType)

/** Parses a type such as "map(string, <A>)". Names beginning with "net." are opaque types, others with dots are structs. */
export function parseType(text: string): Type {
  let at = 0
  const parse = (): Type => {
    const match = /^\s*(<(\w+)>|[\w.]+)/.exec(text.slice(at))
    if (match === null) throw new SyntaxError(`no type: ${text}`)
    at += match[0].length
    if (match[2] !== undefined) return typeParameter(match[2])
    const name = match[1] ?? ""
    const parameters: Type[] = []
    if (text[at] === "(") {
      do {
        at++
        parameters.push(parse())
      } while (text[at] === ",")
      at++
    }
    return named(name, parameters)
  }
  return parse()
}

function named(name: string, parameters: Type[]): Type {
  const [first = dynType, second = dynType] = parameters
  if (name === "list") return listType(first)
  if (name === "map") return mapType(first, second)
  if (name === "type") return typeType(parameters[0])
  if (parameters.length > 0 || name.startsWith("net.")) return opaqueType(name, ...parameters)
  return byName.get(name) ?? structType(name)
}

/** The types of a comprehension's variables for that range; undefined if it is not iterable. */
export function iterationTypes(range: Type, hasTwo: boolean): [Type, Type] | undefined {
  const [first = dynType, second = dynType] = range.parameters
  switch (range.kind) {
    case "list":
      return hasTwo ? [intType, first] : [first, first]
    case "map":
      return [first, second]
    case "dyn":
    case "error":
    case "parameter":
      return [dynType, dynType]
    default:
      return undefined
  }
}

export function literalType(value: unknown): Type {
  switch (typeof value) {
    case "boolean":
      return boolType
    case "bigint":
      return intType
    case "number":
      return doubleType
    case "string":
      return stringType
    default:
      if (value === null) return nullType
      return value instanceof UInt ? uintType : bytesType
  }
}
