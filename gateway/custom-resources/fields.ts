// Paths of scale numbers and selectable fields: what stands between dots are names of fields, whatever JSONPath would take
// them for.

/** Of ".spec.replicas". */
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
