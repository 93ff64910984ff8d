// Tables that are asked for words of strangers: kinds, keys, types, annotations.

/**
 * What is written in it by its name, and nothing else: an object literal would answer "constructor" and "toString", too, with what
 * every object inherits.
 */
export function dictionary<T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null) as Record<string, T>, entries)
}
