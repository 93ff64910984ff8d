// Records the fields that were dropped from an applied custom resource because its schema does not contain them. Upstream drops
// them only when the object is stored; until then they count as a change.

const dropped = new WeakMap<object, readonly string[]>()
const none: readonly string[] = []

/** `fields` in the format of warnings: `unknown field "spec.a"`. */
export function noteDropped(object: object, fields: readonly string[]): void {
  if (fields.length > 0) dropped.set(object, fields)
}

/** The top-level fields in which something was dropped. */
export function droppedOf(object: object): readonly string[] {
  const fields = dropped.get(object)
  return fields === undefined ? none : fields.map((field) => /^unknown field "([^".[]*)/.exec(field)?.[1] ?? "")
}
