// The literals of numbers of a parsed value, where they are known to matter: kept beside the value, and collected with it.

import type { Json } from "../../object.ts"
import { isObject } from "../json-object.ts"

type Step = string | number
type Place = Map<Step, Place | string>

/**
 * Literals of numbers by position. They are recorded during a traversal, in a tree of the value's shape: storing a full path for
 * each of them would need memory in proportion to the nesting.
 */
export class OddNumbers {
  readonly #root: Place = new Map()
  readonly #path: Step[] = []
  /** The nodes of the current path, as far as they exist. */
  readonly #places: Place[] = [this.#root]

  /** The current path. */
  get path(): readonly Step[] {
    return this.#path
  }

  get isEmpty(): boolean {
    return this.#root.size === 0
  }

  enter(step: Step): void {
    this.#path.push(step)
  }

  leave(): void {
    this.#path.pop()
    if (this.#places.length > this.#path.length + 1) this.#places.pop()
  }

  note(literal: string): void {
    const last = this.#path.at(-1)
    if (last === undefined) return
    let place = this.#places.at(-1) ?? this.#root
    for (const step of this.#path.slice(this.#places.length - 1, -1)) {
      const present = place.get(step)
      const inner: Place = present instanceof Map ? present : new Map()
      if (inner !== present) place.set(step, inner)
      this.#places.push(inner)
      place = inner
    }
    place.set(last, literal)
  }

  get(path: readonly Step[]): string | undefined {
    let found: Place | string | undefined = this.#root
    for (const step of path) {
      if (!(found instanceof Map)) return undefined
      found = found.get(step)
    }
    return typeof found === "string" ? found : undefined
  }

  /** Returns those for which `isKept` returns true; it is called with the parent in `value`. */
  select(isKept: (holder: Json, step: Step, literal: string) => boolean, value: Json): OddNumbers {
    const kept = new OddNumbers()
    const walk = (place: Place, holder: Json): void => {
      for (const [step, found] of place) {
        kept.enter(step)
        if (typeof found !== "string") walk(found, entryOf(holder, step))
        else if (isKept(holder, step, found)) kept.note(found)
        kept.leave()
      }
    }
    walk(this.#root, value)
    return kept
  }

  /** Visits all except those of one field. */
  each(visit: (literal: string) => void, except: string): void {
    for (const [step, found] of this.#root) if (step !== except) visitAll(found, visit)
  }
}

function entryOf(value: Json, step: Step): Json {
  if (Array.isArray(value)) return value[Number(step)] ?? null
  return isObject(value) && Object.hasOwn(value, step) ? (value[step] ?? null) : null
}

function visitAll(found: Place | string, visit: (literal: string) => void): void {
  if (typeof found === "string") visit(found)
  else for (const inner of found.values()) visitAll(inner, visit)
}

/** Literals of numbers that are not exact as doubles, by parsed root. Used by decodeObject. */
const oddNumbers = new WeakMap<object, OddNumbers>()

export function oddNumbersOf(value: Json): OddNumbers | undefined {
  return typeof value === "object" && value !== null ? oddNumbers.get(value) : undefined
}

export function noteOddNumbers(value: Json, found: OddNumbers | undefined): void {
  if (typeof value !== "object" || value === null) return
  if (found === undefined || found.isEmpty) oddNumbers.delete(value)
  else oddNumbers.set(value, found)
}
