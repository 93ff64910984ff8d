// Determines the overloads of a function that match a call's argument types. Source: cel-go/checker/checker.go (resolveOverload).

import type { Overload } from "./environment.ts"
import { dynType, isDynamic, printType, sameType, type Type } from "./types.ts"
import { instantiate, type Substitutions } from "./unify.ts"

interface Resolved {
  /** Ids of the matching overloads. */
  ids: readonly string[]
  /** dyn if their results differ. */
  result: Type
}

/** `isMember`: called on its first argument. Undefined if no overload matches. */
export function resolveOverload(
  overloads: readonly Overload[],
  types: readonly Type[],
  isMember: boolean,
  substitutions: Substitutions,
): Resolved | undefined {
  const ids: string[] = []
  let result: Type | undefined
  for (const overload of overloads) {
    if (overload.member !== isMember) continue
    const parameters = new Map(overload.parameters.map((parameter) => [parameter, substitutions.newParameter()]))
    const expected = overload.args.map((arg) => instantiate(arg, parameters))
    if (!substitutions.unify(types, expected)) continue
    ids.push(overload.id)
    const type = substitutions.apply(instantiate(overload.result, parameters))
    if (result === undefined) result = type
    else if (!isDynamic(result) && !sameType(type, result)) result = dynType
  }
  return result === undefined ? undefined : { ids, result }
}

/** The argument types as shown in messages. */
export function printSignature(types: readonly Type[], isMember: boolean, substitutions: Substitutions): string {
  const shown = types.map((type) => printType(substitutions.apply(type, "dyn")))
  return isMember ? `${shown[0] ?? ""}.(${shown.slice(1).join(", ")})` : `(${shown.join(", ")})`
}
