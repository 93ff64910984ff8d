// Joins two connections: pipes both directions with backpressure, until both have ended. The bytes may be translated on their way, but are
// not interpreted here.

import type { Duplex } from "node:stream"
import { workedMs } from "../../apimachinery/thread-time.ts"
import { gatherSmallPieces, gatherSmallWrites } from "./small-pieces.ts"
import { countUnsent, type HoldUnsent } from "./unsent.ts"

/**
 * Timeout for a target to accept the last bytes of a client that has ended, for a client to end that has got the last bytes, and for one
 * to accept them whose stream is ended by a signal.
 */
export const closeTimeoutMs = 30_000
/** After longer work at one piece that is translated, its side rests, as many times as long: others share the thread. */
const longMs = 2
const restsPerWork = 4

/** Called with each piece that one side sends; what it returns is sent on instead. If it throws, both sides are cut off. */
export type Translate = (piece: Buffer) => Buffer

export interface Translation {
  fromClient?: Translate | undefined
  fromTarget?: Translate | undefined
}

export interface JoinOptions {
  /** Told of what one side has sent and the other does not take. */
  hold?: HoldUnsent | undefined
  /** Ends the stream. (It may also be aborted because the client has left, which the stream observes itself.) */
  signal?: AbortSignal | undefined
  /** What client and target have sent already. (It may have ended since, so that this can no longer be put back.) */
  heads?: readonly [Buffer, Buffer]
  translation?: Translation | undefined
}

/** When one side ends or fails, the other is ended after all data has been passed on. */
export function join(
  client: Duplex,
  target: Duplex,
  { hold, signal, heads, translation = {} }: JoinOptions = {},
): void {
  if (client.destroyed || target.destroyed) {
    client.destroy()
    target.destroy()
    return
  }
  countUnsent(client, target, hold)
  countUnsent(target, client, hold)
  pass(client, target, translation.fromClient, heads?.[0])
  pass(target, client, translation.fromTarget, heads?.[1])
  // One for both reasons to end it: each listener for its close counts among those that Node finds too many.
  const late = new Late(client)
  const forget = signal === undefined ? undefined : endWith(signal, client, target, late)
  for (const side of [client, target]) side.on("error", () => undefined) // close follows
  client.on("close", () => {
    forget?.()
    late.stop()
    endTarget(target)
  })
  target.on("close", () => endClient(client, late))
}

/** Destroys a side after a time, if it has been told to. */
class Late {
  readonly #side: Duplex
  #timer: NodeJS.Timeout | undefined

  constructor(side: Duplex) {
    this.#side = side
  }

  /** The first one counts. */
  start(): void {
    if (this.#side.destroyed) return
    this.#timer ??= setTimeout(() => this.#side.destroy(), closeTimeoutMs).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}

/**
 * Returns a function to call when the client has closed, not before: one that takes nothing would otherwise hold what it has been sent when
 * its tenant is gone.
 */
function endWith(signal: AbortSignal, client: Duplex, target: Duplex, late: Late): () => void {
  const end = (): void => {
    // What a client has sent before it left is still passed on.
    if (client.destroyed) return
    target.destroy()
    late.start()
  }
  signal.addEventListener("abort", end, { once: true })
  if (signal.aborted) end()
  return () => signal.removeEventListener("abort", end)
}

/** Like a pipe. (One with a transform in it would not have passed on everything when its source is closed.) */
function pass(from: Duplex, to: Duplex, translate: Translate | undefined, head: Buffer | undefined): void {
  gatherSmallPieces(from)
  gatherSmallWrites(to)
  let isResting = false
  const resume = (): void => void (isResting || to.writableNeedDrain || from.resume())
  const rest = (ms: number): void => {
    isResting = true
    from.pause()
    setTimeout(() => {
      isResting = false
      resume()
    }, ms).unref()
  }
  const send = (piece: Buffer): void => void (to.write(piece) || from.pause())
  const take = (piece: Buffer): void => {
    if (!to.writable) return
    if (translate === undefined) return send(piece)
    try {
      const before = workedMs()
      const translated = translate(piece)
      if (translated.length > 0) send(translated)
      const tookMs = workedMs() - before
      if (tookMs > longMs) rest(tookMs * restsPerWork)
    } catch (error) {
      from.destroy(error as Error)
      to.destroy()
    }
  }
  const end = (): void => void to.end()
  from.on("data", take)
  to.on("drain", resume)
  if (head !== undefined && head.length > 0) take(head)
  if (from.readableEnded) end()
  else from.on("end", end)
}

/** What the client has sent is still passed on. */
function endTarget(target: Duplex): void {
  if (target.destroyed) return
  if (target.writableFinished) {
    target.destroy()
    return
  }
  const timer = setTimeout(() => target.destroy(), closeTimeoutMs)
  timer.unref()
  // Also called if it is destroyed before.
  target.end(() => {
    clearTimeout(timer)
    target.destroy()
  })
}

/**
 * What the target has sent is still passed on: the last bytes of exec contain the command's exit status. As upstream, a client may take its
 * time, as a pager does, unless a signal ends the stream; meanwhile it holds what any slow reader holds. What it still sends is dropped,
 * but read: a connection that is closed with unread bytes is reset, and what the client has not read by then is lost.
 */
function endClient(client: Duplex, late: Late): void {
  if (client.destroyed) return
  client.resume()
  const finished = (): void => {
    if (client.destroyed) return
    late.start()
    const end = (): void => void client.destroy()
    if (client.readableEnded) end()
    else client.once("end", end)
  }
  if (client.writableFinished) finished()
  else client.end(finished)
}
