// Counts what a forwarded stream holds because its destination does not take it. One stream holds little, but a client may leave
// thousands of them unread for as long as it likes.

import type { Readable, Writable } from "node:stream"

/** Called when that many bytes begin to wait. Returns a function to call when they wait no more. `cut` ends the stream. */
export type HoldUnsent = (bytes: number, cut: () => void) => (() => void) | undefined

/** For what is piped from one to the other: a pipe pauses its source until the destination has taken what it has. */
export function countUnsent(from: Readable, to: Writable, hold: HoldUnsent | undefined): void {
  if (hold === undefined) return
  let release: (() => void) | undefined
  const end = (): void => {
    release?.()
    release = undefined
  }
  const cut = (): void => {
    from.destroy()
    to.destroy()
  }
  const begin = (bytes: number): void => {
    // A pipe also pauses its source when its destination has taken everything.
    const waits = !to.destroyed && !to.writableFinished && bytes > 0
    if (release === undefined && waits) release = hold(bytes, cut)
  }
  if (to.writableNeedDrain) begin(to.writableLength + from.readableHighWaterMark)
  // While it is paused, the source reads until its own buffer is full.
  from.on("pause", () => begin(to.writableLength + from.readableHighWaterMark))
  // The destination still has the end of it.
  from.once("close", () => begin(to.writableLength))
  to.on("drain", end)
  // Not followed by a "drain" when it has been ended, nor soon by "close" if its other side is open.
  to.once("finish", end)
  to.once("close", end)
}

/** For the body of a request that is piped on. `response` is cut, too: over HTTP/2 it would otherwise seem to be complete. */
export function countUpload(from: Readable, to: Writable, response: Writable, hold: HoldUnsent | undefined): void {
  if (hold === undefined) return
  countUnsent(from, to, (bytes, cut) =>
    hold(bytes, () => {
      response.destroy()
      cut()
    }),
  )
}

/** For the end of an answer that has been written at once. */
export function countRest(to: Writable, hold: HoldUnsent | undefined): void {
  if (hold === undefined || to.destroyed || to.writableLength === 0) return
  const release = hold(to.writableLength, () => void to.destroy())
  if (release === undefined) return
  to.once("finish", release)
  to.once("close", release)
}
