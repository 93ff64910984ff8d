// Finds duplicates in a list in linear time.

/** The indexes of items that equal an earlier one. */
export function repeats(items: readonly unknown[]): ReadonlySet<number> {
  const seen = new Set<unknown>()
  const found = new Set<number>()
  for (const [index, item] of items.entries()) {
    if (seen.has(item)) found.add(index)
    seen.add(item)
  }
  return found
}

/** The first item of each name. */
export function byName<T extends { name?: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  const found = new Map<string, T>()
  for (const item of items) if (!found.has(item.name ?? "")) found.set(item.name ?? "", item)
  return found
}
