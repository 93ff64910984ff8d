// Of an object's events of one type upstream writes 25, and then one every five minutes. Which of them are the last, where something
// fails every second, is a matter of moments.

import { eventLimits } from "../../../client/events.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import type { Snapshot } from "./scenario.ts"

export interface EventFields {
  involvedObject: { kind: string; name: string; uid?: string }
  type: string
  reason: string
  message: string
  count?: number
  source?: { component?: string }
}

/** How the lines of its object's events of its type begin, but for names. */
export const beginningOf = ({ source, involvedObject, type }: EventFields): string =>
  `${source?.component ?? ""}: ${involvedObject.kind}/${involvedObject.name} ${type} `

/** The beginnings of those that may be cut. */
export function cutBeginnings(events: readonly KubeObject[]): string[] {
  const all = events as unknown as EventFields[]
  const by = Map.groupBy(all, (event) => `${event.involvedObject.uid} ${beginningOf(event)}`)
  return [...by.values()].flatMap((alike) => {
    const times = alike.reduce((sum, { count = 1 }) => sum + count, 0)
    const [first] = alike
    return first === undefined || times < eventLimits.burst ? [] : [beginningOf(first)]
  })
}

/** Without events that another side has not, because they may be cut there. */
export function withoutCut(sides: readonly Snapshot[]): Snapshot[] {
  const mayLack = ({ events, cut }: Snapshot, line: string): boolean =>
    !events.includes(line) && cut.some((beginning) => line.startsWith(beginning))
  return sides.map((side) => ({
    ...side,
    events: side.events.filter((line) => !sides.some((other) => mayLack(other, line))),
    cut: [],
  }))
}
