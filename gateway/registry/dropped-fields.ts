// What was dropped of an applied custom resource because its schema has no such field. Upstream drops it where the object is stored:
// until then it counts as a change.

const dropped = new WeakMap<object, readonly string[]>()
const none: readonly string[] = []

/** `fields`: as warnings tell them, `unknown field "spec.a"`. */
export function noteDropped(object: object, fields: readonly string[]): void {
  if (fields.length > 0) dropped.set(object, fields)
}

/** Fields at the top whose content lost something. */
export function droppedOf(object: object): readonly string[] {
  const fields = dropped.get(object)
  return fields === undefined ? none : fields.map((field) => /^unknown field "([^".[]*)/.exec(field)?.[1] ?? "")
}
