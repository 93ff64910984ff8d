// Changes of copies that somebody else in super undoes, such as a controller that sees an annotation as its own: each would be an event, upon
// which the other writes again. The same change of an object is made at once a few times, and then less and less often.

import { createHash } from "node:crypto"
import { backoff } from "../client/backoff.ts"
import type { Clock } from "../client/clock.ts"
import type { Resource } from "../client/rest.ts"
import type { Place } from "./conversion/super-object.ts"
import { syncerLimits } from "./options.ts"
import type { Patch } from "./resources/resource-sync.ts"

/** Of which object. */
interface Copy {
  sync: { resource: Resource }
  place: Place
}

interface Made {
  change: string
  /** How often, one after the other. */
  times: number
  /** When it may be made again. */
  until: number
}

export class RepeatedChanges {
  readonly #clock: Clock
  /** By object, the last change; those made longest ago first. */
  readonly #made = new Map<string, Made>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Milliseconds until the change should be made; 0: now. */
  wait(copy: Copy, patches: readonly Patch[]): number {
    const made = this.#made.get(idOf(copy))
    if (made === undefined || patches.length === 0 || made.change !== digestOf(patches)) return 0
    return Math.max(0, made.until - this.#clock.elapsed())
  }

  note(copy: Copy, patches: readonly Patch[]): void {
    if (patches.length === 0) return
    const { atOnce, delays, remembered } = syncerLimits.repeatedChanges
    const [id, change, now] = [idOf(copy), digestOf(patches), this.#clock.elapsed()]
    const before = this.#made.get(id)
    const isRepeated = before?.change === change && now - before.until < delays.longest
    const times = isRepeated ? before.times + 1 : 1
    this.#made.delete(id)
    this.#made.set(id, { change, times, until: now + (times < atOnce ? 0 : backoff(times - atOnce + 1, delays)) })
    if (this.#made.size <= remembered) return
    for (const oldest of this.#made.keys()) {
      this.#made.delete(oldest)
      return
    }
  }
}

const idOf = ({ sync: { resource }, place: { namespace = "", name } }: Copy): string =>
  `${resource.resource} ${namespace}/${name}`

const digestOf = (patches: readonly Patch[]): string =>
  createHash("sha256").update(JSON.stringify(patches)).digest("base64")
