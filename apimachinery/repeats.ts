// What of a list is there already: looked for once, and not in all that stands before each item.

/** Places of items of which one that is the same stands before. */
export function repeats(items: readonly unknown[]): ReadonlySet<number> {
  const seen = new Set<unknown>()
  const found = new Set<number>()
  for (const [index, item] of items.entries()) {
    if (seen.has(item)) found.add(index)
    seen.add(item)
  }
  return found
}

/** The first of each name. */
export function byName<T extends { name?: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  const found = new Map<string, T>()
  for (const item of items) if (!found.has(item.name ?? "")) found.set(item.name ?? "", item)
  return found
}
