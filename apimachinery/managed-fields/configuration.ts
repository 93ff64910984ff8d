// Checks an applied configuration and the current object against their types before they are merged. Source:
// sigs.k8s.io/structured-merge-diff/v6/typed/validate.go.

import { printGo } from "../go/print.ts"
import type { Json } from "../object.ts"
import { isObject, type JsonObject } from "../schema/json-object.ts"
import { ForeignValue, foreignFault } from "./foreign-value.ts"
import { areUnique, elementOf, ListItemError } from "./list-element.ts"
import { type ListType, type MapType, type MergeType, partOf, type Scalar } from "./merge-type.ts"
import { type PathElement, printElement } from "./path-element.ts"

/** What the error is about: the applied configuration, the current object, one without managers, or a converted one. */
export type Subject = "configuration" | "live" | "unmanaged" | "conversion"

/** Type errors of a value, with upstream's messages. */
export class TypeErrors extends Error {
  override readonly name = "TypeErrors"
  readonly subject: Subject

  constructor(errors: readonly string[], subject: Subject = "configuration") {
    super(errors.length === 1 ? errors[0] : ["errors:", ...errors.map((error) => `  ${error}`)].join("\n"))
    this.subject = subject
  }
}

/** Throws TypeErrors. Only stored objects may contain duplicate items. */
export function checkType(value: Json, type: MergeType, subject: Subject = "configuration"): void {
  const faults: Fault[] = []
  check(value, type, subject === "live" || subject === "unmanaged", faults)
  if (faults.length === 0) return
  const errors = faults.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`))
  throw new TypeErrors(errors, subject)
}

/** The path is completed while returning from the recursion, so that valid values need none. */
interface Fault {
  path: string
  message: string
}

function lead(step: string, faults: readonly Fault[], from: number): void {
  for (const fault of faults.slice(from)) fault.path = step + fault.path
}

function check(value: Json, type: MergeType, mayRepeat: boolean, faults: Fault[]): void {
  const part = partOf(type, value)
  if (value === null) return
  const fail = (message: string): void => void faults.push({ path: "", message })
  if (isForeign(value)) return fail(foreignFault(value, type))
  if (part === "map" && type.map !== undefined) {
    if (isObject(value)) checkMap(value, type.map, mayRepeat, faults)
    else fail(`expected map, got &{${printGo(value)}}`)
  } else if (part === "list" && type.list !== undefined) {
    if (Array.isArray(value)) checkList(value, type.list, mayRepeat, faults)
    else fail(`expected list, got &{${printGo(value)}}`)
  } else if (type.scalar !== undefined) {
    const fault = scalarFault(value, type.scalar)
    if (fault !== undefined) fail(fault)
  }
}

function checkMap(map: JsonObject, type: MapType, mayRepeat: boolean, faults: Fault[]): void {
  for (const name of Object.keys(map)) {
    const entry = type.field(name) ?? type.values
    if (entry === undefined) {
      faults.push({ path: `.${name}`, message: "field not declared in schema" })
      return
    }
    const { length } = faults
    check(map[name] ?? null, entry, mayRepeat, faults)
    if (faults.length > length) lead(`.${name}`, faults, length)
  }
}

function checkList(list: readonly Json[], type: ListType, mayRepeat: boolean, faults: Fault[]): void {
  // The usual case, for which no path elements are needed, except to say where a fault is.
  const isPlain = type.atomic || (type.keys.length === 1 && areUnique(type, list))
  const seen = new Set<PathElement>()
  for (const [index, item] of list.entries()) {
    let element: PathElement | undefined
    if (isForeign(item) && !type.atomic) {
      if (type.keys.length > 0) {
        const message = `element ${index}: associative list with keys may not have non-map elements`
        faults.push({ path: "", message })
        return
      }
      faults.push({ path: "[={{undefined}}]", message: foreignFault(item, type.items) })
      continue
    }
    if (!isPlain) {
      try {
        element = elementOf(type, item)
      } catch (error) {
        if (!(error instanceof ListItemError)) throw error
        faults.push({ path: "", message: `element ${index}: ${error.message}` })
        return
      }
      if (!mayRepeat && seen.has(element)) {
        faults.push({ path: "", message: `duplicate entries for key ${printElement(element)}` })
      }
      seen.add(element)
    }
    const { length } = faults
    check(item, type.items, mayRepeat, faults)
    if (faults.length > length) {
      lead(type.atomic ? `[${index}]` : printElement(element ?? elementOf(type, item)), faults, length)
    }
  }
}

const isForeign = (value: unknown): value is ForeignValue => value instanceof ForeignValue

function scalarFault(value: Json, type: Scalar): string | undefined {
  switch (type) {
    case "numeric":
      return typeof value === "number" || typeof value === "bigint"
        ? undefined
        : `expected numeric (int or float), got ${goType(value)}`
    case "string":
      return typeof value === "string"
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`
    case "boolean":
      return typeof value === "boolean" ? undefined : `expected boolean, got &{${printGo(value)}}`
    case "untyped":
      return typeof value !== "object" ? undefined : `expected any scalar, got &{${printGo(value)}}`
  }
}

function goType(value: Json): string {
  if (Array.isArray(value)) return "[]interface {}"
  if (isObject(value)) return "map[string]interface {}"
  return typeof value === "boolean" ? "bool" : typeof value
}

function goSyntax(value: Json): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`
  if (isObject(value)) {
    const entries = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}:${goSyntax(item)}`)
    return `map[string]interface {}{${entries.sort().join(", ")}}`
  }
  if (value === null) return "interface {}(nil)"
  return typeof value === "number" || typeof value === "bigint" ? printGo(value) : JSON.stringify(value)
}
