// For parts that refer to another one before it has started: they use it later.

/** Throws if the part has not started. */
export function started<T>(part: T | undefined, name: string): T {
  if (part === undefined) throw new Error(`the ${name} has not started yet`)
  return part
}
