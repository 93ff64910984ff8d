// What happened to the objects of one collection, as a watch of all of them tells it. It must be possible by itself, and every answer
// that clients got meanwhile must follow from it.

import { expect } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import type { WatchedEvent } from "./connection.ts"

export type Matches = (object: KubeObject) => boolean

export const revisionOf = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion)
const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? ""
const isHeld = ({ metadata }: KubeObject): boolean => (metadata.finalizers ?? []).length > 0
export const isLeaving = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

export class History {
  readonly #events: readonly WatchedEvent[]

  /** The collection is empty before the first event. */
  constructor(events: readonly WatchedEvent[]) {
    this.#events = events.filter(({ type }) => type !== "BOOKMARK")
  }

  /** The objects at a revision, by name. */
  at(revision: number): Map<string, KubeObject> {
    const objects = new Map<string, KubeObject>()
    for (const { type, object } of this.#events) {
      if (revisionOf(object) > revision) break
      if (type === "DELETED") objects.delete(nameOf(object))
      else objects.set(nameOf(object), object)
    }
    return objects
  }

  list(revision: number, matches: Matches): KubeObject[] {
    const found = [...this.at(revision).values()].filter(matches)
    return found.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  }

  /** What a watch of some of the objects delivers after a revision. */
  changes(after: number, matches: Matches): WatchedEvent[] {
    const before = this.at(after)
    const found: WatchedEvent[] = []
    for (const { type, object } of this.#events) {
      if (revisionOf(object) <= after) continue
      const last = before.get(nameOf(object))
      const [was, is] = [last !== undefined && matches(last), type !== "DELETED" && matches(object)]
      if (type === "DELETED") before.delete(nameOf(object))
      else before.set(nameOf(object), object)
      if (is) found.push({ type: was ? "MODIFIED" : "ADDED", object })
      else if (was) found.push({ type: "DELETED", object: type === "DELETED" ? object : asOf(last, object) })
    }
    return found
  }

  /** The events of one object's life after a revision. */
  eventsOf(uid: string | undefined, after: number): WatchedEvent[] {
    return this.#events.filter(({ object }) => object.metadata.uid === uid && revisionOf(object) > after)
  }

  checkPossible(): void {
    let revision = 0
    const objects = new Map<string, KubeObject>()
    for (const { type, object } of this.#events) {
      const [name, last] = [nameOf(object), objects.get(nameOf(object))]
      expect(revisionOf(object)).toBeGreaterThan(revision)
      revision = revisionOf(object)
      expect(type === "ADDED", `${type} ${name} at ${revision}`).toBe(last === undefined)
      if (last !== undefined) this.#checkChange(type, last, object)
      if (type === "DELETED") objects.delete(name)
      else objects.set(name, object)
      expect(isLeaving(object) && type === "ADDED", `${name} begins with its end`).toBe(false)
      if (type !== "DELETED" && isLeaving(object)) expect(isHeld(object), `${name} at ${revision} stays`).toBe(true)
    }
  }

  #checkChange(type: string, last: KubeObject, object: KubeObject): void {
    const what = `${type} ${nameOf(object)} at ${revisionOf(object)}`
    expect(object.metadata.uid, what).toBe(last.metadata.uid)
    expect(object.metadata.creationTimestamp, what).toBe(last.metadata.creationTimestamp)
    if (isLeaving(last)) expect(object.metadata.deletionTimestamp, what).toBe(last.metadata.deletionTimestamp)
    // The last state has the finalizer whose removal deleted it.
    if (type === "DELETED" && isHeld(object)) expect(isLeaving(object), what).toBe(true)
  }
}

/** The last state in a selection, with the revision of the change that ended it. */
function asOf(last: KubeObject | undefined, { metadata: { resourceVersion = "" } }: KubeObject): KubeObject {
  if (last === undefined) throw new Error("there was nothing before")
  return { ...last, metadata: { ...last.metadata, resourceVersion } }
}
