// Maps with untrusted keys: kinds, keys, types, annotations.

/** Contains only the given entries: an object literal would also return inherited values for "constructor" and "toString". */
export function dictionary<T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null) as Record<string, T>, entries)
}
