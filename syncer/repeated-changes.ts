// Changes of copies that somebody else in super undoes, such as a controller that sees an annotation as its own: each would be an event, upon
// which the other writes again. The same change of a copy is made at once a few times, and then less and less often.

import { createHash } from "node:crypto"
import type { KubeObject } from "../apimachinery/object.ts"
import { remember } from "../apimachinery/remember.ts"
import { backoff } from "../client/backoff.ts"
import type { Clock } from "../client/clock.ts"
import { syncerLimits } from "./options.ts"
import type { Patch } from "./resources/resource-sync.ts"

interface Made {
  change: string
  /** How often, one after the other. */
  times: number
  /** When it may be made again. */
  until: number
}

export class RepeatedChanges {
  readonly #clock: Clock
  /** By copy and subresource, the last change; those made longest ago first. */
  readonly #made = new Map<string, Made>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Milliseconds until the change should be made; 0: now. */
  wait(copy: KubeObject | undefined, step: Patch): number {
    const made = this.#made.get(idOf(copy, step))
    // Of most copies nothing has been made.
    if (made === undefined || made.change !== digestOf(step)) return 0
    return Math.max(0, made.until - this.#clock.elapsed())
  }

  /** It has been made. */
  note(copy: KubeObject | undefined, step: Patch): void {
    const { atOnce, delays, remembered } = syncerLimits.repeatedChanges
    const [id, change, now] = [idOf(copy, step), digestOf(step), this.#clock.elapsed()]
    const before = this.#made.get(id)
    const isRepeated = before?.change === change && now - before.until < delays.longest
    const times = isRepeated ? before.times + 1 : 1
    const until = now + (times < atOnce ? 0 : backoff(times - atOnce + 1, delays))
    remember(this.#made, id, { change, times, until }, remembered)
  }
}

/** An object that is made anew under the same name is another one: nobody has undone what the one before had. */
const idOf = (copy: KubeObject | undefined, { subresource = "" }: Patch): string =>
  `${copy?.metadata.uid} ${subresource}`

const digestOf = (step: Patch): string => createHash("sha256").update(JSON.stringify(step)).digest("base64")
