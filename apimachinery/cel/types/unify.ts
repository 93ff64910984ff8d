// Assignability of types with type parameters, which are inferred in the process. Source: cel-go/checker/types.go.

import { dynType, isDynamic, isOptional, sameType, type Type, typeParameter } from "./types.ts"

/** The inferred meaning of type parameters. A failed attempt has no effect. */
export class Substitutions {
  readonly #found = new Found()
  #made = 0

  /** Whether each of `actual` is assignable to its counterpart; if so, the inferred parameters are kept. */
  unify(actual: readonly Type[], expected: readonly Type[]): boolean {
    this.#found.begin()
    if (allAssignable(this.#found, actual, expected)) return true
    this.#found.undo()
    return false
  }

  /** A parameter that may still become any type. */
  newParameter(): Type {
    return typeParameter(`_var${this.#made++}`)
  }

  /** `free`: the replacement of parameters that have not been inferred. */
  apply(type: Type, free: "keep" | "dyn" = "keep"): Type {
    return substitute(this.#found, type, free)
  }
}

/** A long expression has as many parameters as operators, so a failed attempt is undone instead of using a copy. */
class Found extends Map<string, Type> {
  readonly #before: [name: string, type: Type | undefined][] = []

  begin(): void {
    this.#before.length = 0
  }

  override set(name: string, type: Type): this {
    this.#before.push([name, this.get(name)])
    return super.set(name, type)
  }

  undo(): void {
    for (const [name, type] of this.#before.toReversed()) {
      if (type === undefined) this.delete(name)
      else super.set(name, type)
    }
  }
}

function substitute(found: ReadonlyMap<string, Type>, type: Type, free: "keep" | "dyn"): Type {
  if (type.kind === "parameter") {
    const known = found.get(type.name)
    if (known !== undefined) return substitute(found, known, free)
    return free === "dyn" ? dynType : type
  }
  if (type.parameters.length === 0) return type
  return { ...type, parameters: type.parameters.map((parameter) => substitute(found, parameter, free)) }
}

/** Replaces the parameters of a declaration. */
export function instantiate(type: Type, parameters: ReadonlyMap<string, Type>): Type {
  return substitute(parameters, type, "keep")
}

function allAssignable(found: Found, a: readonly Type[], b: readonly Type[]): boolean {
  return a.length === b.length && a.every((type, index) => isAssignable(found, type, b[index] as Type))
}

function isAssignable(found: Found, a: Type, b: Type): boolean {
  if (b.kind === "parameter") {
    const { valid, known } = bind(found, a, b)
    if (valid) return true
    if (known) return false
  }
  if (a.kind === "parameter") return bind(found, b, a).valid
  if (isWildcard(a) || isWildcard(b)) return true
  if (a.kind === "null") return isNullable(b)
  if (b.kind === "null") return isNullable(a)
  switch (a.kind) {
    case "type":
      return b.kind === "type"
    case "opaque":
    case "list":
    case "map":
      return a.kind === b.kind && a.name === b.name && allAssignable(found, a.parameters, b.parameters)
    default:
      return a.kind === b.kind && a.name === b.name
  }
}

function isWildcard(type: Type): boolean {
  return isDynamic(type) || type.kind === "error"
}

function isNullable({ kind }: Type): boolean {
  return kind === "null" || kind === "opaque" || kind === "struct" || kind === "duration" || kind === "timestamp"
}

function bind(found: Found, type: Type, parameter: Type): { valid: boolean; known: boolean } {
  if (sameType(type, parameter)) return { valid: true, known: true }
  const known = found.get(parameter.name)
  if (known !== undefined) {
    if (sameType(type, known)) return { valid: true, known: true }
    if (!isAssignable(found, type, known)) return { valid: false, known: true }
    const general = mostGeneral(type, known)
    if (isFreeOf(found, parameter, general)) found.set(parameter.name, general)
    return { valid: true, known: true }
  }
  if (!isFreeOf(found, parameter, type)) return { valid: false, known: false }
  found.set(parameter.name, type)
  return { valid: true, known: false }
}

/** Whether a type does not contain the parameter: a parameter must not denote a type that contains itself. */
function isFreeOf(found: Found, parameter: Type, within: Type): boolean {
  if (sameType(parameter, within)) return false
  if (within.kind === "parameter") {
    const known = found.get(within.name)
    return known === undefined || isFreeOf(found, parameter, known)
  }
  return within.parameters.every((inner) => isFreeOf(found, parameter, inner))
}

export function mostGeneral(a: Type, b: Type): Type {
  return isLessSpecific(a, b) ? a : b
}

function isLessSpecific(a: Type, b: Type): boolean {
  if (isDynamic(a) || a.kind === "parameter") return true
  if (isDynamic(b) || b.kind === "parameter" || a.kind !== b.kind) return false
  if (a.kind === "type") return true
  if (a.kind === "list" || a.kind === "map" || isOptional(a) || a.kind === "opaque") {
    if (a.name !== b.name || a.parameters.length !== b.parameters.length) return false
    return a.parameters.every((parameter, index) => isLessSpecific(parameter, b.parameters[index] as Type))
  }
  return sameType(a, b)
}
