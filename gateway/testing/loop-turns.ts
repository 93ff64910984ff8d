// Counts the turns of the event loop, until the test ends: what takes many of them does not keep others waiting.

import type { Readable } from "node:stream"
import { onTestFinished } from "vitest"

/** Returns a function that tells the number so far. */
export function countLoopTurns(): () => number {
  let turns = 0
  let next: NodeJS.Immediate | undefined
  const count = (): void => {
    turns++
    next = setImmediate(count)
  }
  count()
  onTestFinished(() => clearImmediate(next))
  return () => turns
}

/** Resolves at once when that many have come. */
export function receiveBytes(from: Readable, count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let received = 0
  from.on("data", (piece: Buffer) => {
    received += piece.length
    if (received >= count) resolve()
  })
  return promise
}
