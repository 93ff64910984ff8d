// Maps with a limit, from which the oldest entries are dropped.

/**
 * Makes the entry the last to be dropped, and returns its value. The map has no more than `most` entries afterwards, if it had no more
 * before.
 */
export function remember<K, V>(map: Map<K, V>, key: K, value: V, most: number): V {
  map.delete(key)
  map.set(key, value)
  if (map.size <= most) return value
  for (const oldest of map.keys()) {
    map.delete(oldest)
    break
  }
  return value
}
