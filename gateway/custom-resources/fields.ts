// Paths of scale numbers and selectable fields: the parts between dots are always names of fields, even if they have a meaning in
// JSONPath.

/** For example ".spec.replicas". */
export function plainFields(text: string): string[] {
  return text.replace(/^\./, "").split(".")
}

export function valueAt(object: object, names: readonly string[]): unknown {
  let at: unknown = object
  for (const name of names) {
    if (typeof at !== "object" || at === null || Array.isArray(at) || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return at
}
