// The differences that a comparison (compare.ts) finds, while it walks.

import type { Json } from "../object.ts"
import { mostAtOnce, type Steps } from "../steps.ts"
import { type Draft, type FieldSet } from "./field-set.ts"
import { inOrder, puttingInOrder } from "./in-order.ts"
import type { LargePart } from "./large-parts.ts"
import type { PathElement } from "./path-element.ts"
import type { Building } from "./whole.ts"

/** Result at and below the last visited place; the caller takes it before it visits the next one. */
export interface Walk {
  added: FieldSet | undefined
  modified: FieldSet | undefined
  removed: FieldSet | undefined
  readonly areStructs: boolean
  readonly adding: Building
  readonly removing: Building
  /** Of large parts, which have been compared in steps before, by their later states. undefined: the walk stops at one. */
  known?: Map<Json, Known>
  /** Entries and items that it has come to. */
  visited: number
  /** It has stopped. What it has found is not all then. */
  hasStopped: boolean
}

export interface Known extends Pick<Walk, "added" | "modified" | "removed">, LargePart {}

export function nothing(walk: Walk): void {
  walk.added = walk.modified = walk.removed = undefined
}

export const hasFound = ({ added, modified, removed }: Walk): boolean =>
  added !== undefined || modified !== undefined || removed !== undefined

/** Whether the walk stops: at a list or a map of this size, or since it has come to so much that it would be a step of its own. */
export function stopsAt(walk: Walk, size: number, visited: number): boolean {
  if (walk.known !== undefined) return false
  walk.visited += visited
  if (size <= mostAtOnce && walk.visited <= mostAtOnce) return false
  nothing(walk)
  walk.hasStopped = true
  return true
}

/** Collects the differences below one place. */
export class Found {
  #added: Draft | undefined
  #modified: Draft | undefined
  #removed: Draft | undefined

  add(element: PathElement, set: FieldSet): void {
    ;(this.#added ??= {})[element] = set
  }

  modify(element: PathElement, set: FieldSet): void {
    ;(this.#modified ??= {})[element] = set
  }

  remove(element: PathElement, set: FieldSet): void {
    ;(this.#removed ??= {})[element] = set
  }

  /** The path element is created only if there is a difference. */
  take(elementOf: (name: string) => PathElement, name: string, { added, modified, removed }: Walk): void {
    if (added !== undefined) this.add(elementOf(name), added)
    if (modified !== undefined) this.modify(elementOf(name), modified)
    if (removed !== undefined) this.remove(elementOf(name), removed)
  }

  give(walk: Walk): void {
    walk.added = this.#added && inOrder(this.#added)
    walk.modified = this.#modified && inOrder(this.#modified)
    walk.removed = this.#removed && inOrder(this.#removed)
  }

  *giving(walk: Walk): Steps<void> {
    walk.added = this.#added && (yield* puttingInOrder(this.#added))
    walk.modified = this.#modified && (yield* puttingInOrder(this.#modified))
    walk.removed = this.#removed && (yield* puttingInOrder(this.#removed))
  }
}
