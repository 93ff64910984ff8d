// The declarations that an expression may use: variables, types with fields, functions. declarations.json contains the functions
// of Kubernetes' CEL with their overloads, as declared by k8s.io/apiserver/pkg/cel/environment (see generate/).

import { readFileSync } from "node:fs"
import {
  intType,
  listType,
  mapType,
  nullType,
  opaqueType,
  optionalType,
  parseType,
  type Type,
  typeParameter,
  typeType,
} from "./types.ts"
import { boolType, bytesType, doubleType, durationType, stringType, timestampType, uintType } from "./types.ts"
import type { Value } from "../values.ts"

export interface Overload {
  id: string
  /** Called as target.name(…); the target is the first argument. */
  member: boolean
  args: readonly Type[]
  result: Type
  /** Names of the type parameters. */
  parameters: readonly string[]
}

/** Types with fields, by name. Used for checking and, for construction, during evaluation. */
export interface TypeProvider {
  has(name: string): boolean
  field(name: string, field: string): Type | undefined
  /** Name{field: value}; absent if values of these types cannot be constructed. */
  construct?(name: string, fields: ReadonlyMap<string, Value>): Value
}

export interface Environment {
  readonly variables: ReadonlyMap<string, Type>
  readonly types: TypeProvider
  /** Functions that may be called in addition to the common ones. */
  readonly functions?: ReadonlySet<string>
}

/** Only available in environments that name them. */
const special = new Set(["jsonpatch.escapeKey"])

let declared: ReadonlyMap<string, readonly Overload[]> | undefined

export function overloadsOf(environment: Environment, name: string): readonly Overload[] | undefined {
  declared ??= readDeclarations()
  if (special.has(name) && environment.functions?.has(name) !== true) return undefined
  return declared.get(name)
}

function readDeclarations(): ReadonlyMap<string, readonly Overload[]> {
  const source = readFileSync(new URL("../declarations.json", import.meta.url), "utf8")
  const functions = JSON.parse(source) as Record<string, Record<string, string>>
  return new Map(
    Object.entries(functions).map(([name, overloads]) => [
      name,
      Object.entries(overloads).map(([id, signature]) => parseOverload(id, signature)),
    ]),
  )
}

/** "string.(int) -> string" for a member, "(string, int) -> string" for a function. */
function parseOverload(id: string, signature: string): Overload {
  const arrow = signature.lastIndexOf(" -> ")
  const result = parseType(signature.slice(arrow + 4))
  const left = signature.slice(0, arrow)
  const member = !left.startsWith("(")
  const open = member ? left.indexOf(".(") + 1 : 0
  const args = splitTypes(left.slice(open + 1, -1)).map(parseType)
  if (member) args.unshift(parseType(left.slice(0, open - 1)))
  const parameters = [...new Set([...signature.matchAll(/<(\w+)>/g)].map((match) => match[1] ?? ""))]
  return { id, member, args, result, parameters }
}

function splitTypes(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") depth++
    else if (text[at] === ")") depth--
    else if (text[at] === "," && depth === 0) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  if (text.trim() !== "") parts.push(text.slice(start))
  return parts.map((part) => part.trim())
}

const typeNames = new Map<string, Type>([
  ["bool", boolType],
  ["bytes", bytesType],
  ["double", doubleType],
  ["google.protobuf.Duration", durationType],
  ["google.protobuf.Timestamp", timestampType],
  ["int", intType],
  ["list", listType(typeParameter("A"))],
  ["map", mapType(typeParameter("A"), typeParameter("B"))],
  ["net.CIDR", opaqueType("net.CIDR")],
  ["net.IP", opaqueType("net.IP")],
  ["null_type", nullType],
  ["optional_type", optionalType(typeParameter("V"))],
  ["string", stringType],
  ["type", typeType()],
  ["uint", uintType],
])

/** The type that a name denotes: `int`, `type(x) == string`. */
export function typeNamed(name: string): Type | undefined {
  return typeNames.get(name)
}
