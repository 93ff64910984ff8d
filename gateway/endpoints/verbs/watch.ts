import { randomInt } from "node:crypto"
import { isExpired, StatusError } from "../../../apimachinery/status.ts"
import { StorageError } from "../../../storage/types.ts"
import type { RequestContext } from "../../request/context.ts"
import { largeWatchBytes } from "../../request/large-places.ts"
import { isWebSocket } from "../../request/web-socket.ts"
import { checkListOptions } from "../../registry/generic/list-watch/list-options.ts"
import type { ListOptions, RegistryEvent, WatchRequest } from "../../registry/rest.ts"
import type { Endpoint } from "../endpoint.ts"
import { openEventSocket } from "../responses/event-socket.ts"
import { type EventSink, EventStream } from "../responses/event-stream.ts"
import { checkStream, negotiate, type Negotiated } from "../negotiation.ts"
import { expectRenewals, isOfNodeLeases } from "../node-leases.ts"
import { flag, integer, listOptions } from "../request-options.ts"
import { answeringOf } from "../responses/respond.ts"
import { errorEvent, eventPrinter, type PrintEvent } from "../responses/watch-events.ts"

/** A watch without a timeout ends after 30 to 60 minutes, at random, so that clients do not all reconnect at once. */
const defaultTimeout = { minSeconds: 1800, maxSeconds: 3600 }
/** The maximum of a timer: 24 days. */
const maxTimerSeconds = Math.floor((2 ** 31 - 1) / 1000)
/** Maximum of unread bytes per client; beyond it the watch ends and the client resumes. */
const maxUnreadBytes = 16 * 1024 * 1024
/** A client that has taken nothing for so long, although there is something, is disconnected. */
const stalledMs = 60_000

/** GET with watch=true: one document per event until the client disconnects. */
export async function watch(ctx: RequestContext, endpoint: Endpoint): Promise<void> {
  const end = isOfNodeLeases(ctx) ? ctx.controlPlane.presence.watchLeases() : undefined
  if (end !== undefined) expectRenewals(ctx)
  try {
    await sendChanges(ctx, endpoint)
  } finally {
    end?.()
  }
}

async function sendChanges(ctx: RequestContext, endpoint: Endpoint): Promise<void> {
  const { registry, definition } = endpoint
  const wanted = negotiate(ctx, answeringOf(definition))
  const { signal } = ctx
  const seconds = secondsOf(ctx)
  ctx.endAfter?.(Math.max(seconds, 0))
  const events = registry.watch(ctx, watchRequest(ctx))[Symbol.asyncIterator]()
  // Errors in the request itself are returned as a Status, not as an event.
  const first = events.next()
  await refusal(first)
  // The form of the events is checked last; the watch that has begun ends with the request.
  const print = eventPrinter(ctx, definition, wanted)
  checkStream(wanted)
  const stream = await open(endpoint, wanted)
  if (stream === undefined || seconds < 0) {
    await events.return?.()
    return stream?.end()
  }
  const printed = print && counted(print, ctx.observer?.eventsOf(ctx.info, definition.customResource === undefined))
  try {
    for (let next = await first; next.done !== true; next = await events.next()) {
      if (printed === undefined || !(await sendEvents(ctx, stream, next.value, printed))) break
    }
  } catch (error) {
    if (!signal.aborted) await sendAll(ctx, stream, [errorEvent(error, wanted)])
  } finally {
    await events.return?.()
    stream.end()
  }
}

function counted(print: PrintEvent, sent: ((bytes: number) => void) | undefined): PrintEvent {
  if (sent === undefined) return print
  return (event) => {
    const document = print(event)
    sent(document.length)
    return document
  }
}

/**
 * Large events are printed one by one, each when the one before has been taken: not all forms of an event are shared among watches.
 * Returns false if the client takes too little, or the request has ended meanwhile.
 */
async function sendEvents(
  ctx: RequestContext,
  stream: EventSink,
  events: readonly RegistryEvent[],
  print: PrintEvent,
): Promise<boolean> {
  if (bytesOf(events) <= largeWatchBytes) return sendAll(ctx, stream, events.map(print))
  const wasLarge = ctx.isLarge === true
  await ctx.enlarge?.()
  for (const event of events) {
    if (ctx.signal.aborted || !(await sendAll(ctx, stream, [print(event)]))) return false
    await ctx.pause?.()
  }
  if (!wasLarge) ctx.reduce?.()
  return true
}

function bytesOf(events: readonly RegistryEvent[]): number {
  let bytes = 0
  for (const { value } of events) bytes += value.length
  return bytes
}

/** Returns false if the client takes too little, or the request has ended meanwhile. */
async function sendAll(ctx: RequestContext, stream: EventSink, documents: readonly Buffer[]): Promise<boolean> {
  for (const portion of stream.portions(documents)) {
    const more = stream.write(portion)
    if (stream.unread > maxUnreadBytes) return false
    if (!more && !(await drained(ctx, stream))) return false
  }
  return true
}

/** False: the request has ended, or the client has been disconnected because it, or all clients together, have taken too little. */
function drained(ctx: RequestContext, stream: EventSink): Promise<boolean> {
  const { signal } = ctx
  const { socket } = stream
  return new Promise((resolve) => {
    let release: (() => void) | undefined
    const done = (isDrained: boolean): void => {
      clearTimeout(timer)
      socket.off("drain", drain)
      signal.removeEventListener("abort", end)
      release?.()
      resolve(isDrained)
    }
    const drain = (): void => done(true)
    const end = (): void => done(false)
    const cut = (): void => {
      stream.cut()
      end()
    }
    const timer = setTimeout(cut, stalledMs)
    socket.once("drain", drain)
    signal.addEventListener("abort", end, { once: true })
    release = ctx.holdUnread?.(stream.unread, cut)
    if (signal.aborted) end()
  })
}

/** undefined: the client has disconnected. */
async function open({ exchange, response }: Endpoint, wanted: Negotiated): Promise<EventSink | undefined> {
  const { request, upgrade } = exchange
  if (upgrade !== undefined && isWebSocket(request))
    return openEventSocket({ ...exchange, upgrade }, wanted.format !== "protobuf")
  const type = wanted.format === "protobuf" ? `${wanted.contentType};stream=watch` : wanted.contentType
  response.writeHead(200, { "content-type": type, "cache-control": "no-cache, private" })
  return new EventStream(response)
}

const nanoseconds = 1_000_000_000

/** A negative timeout ends the watch before its first event. It may overflow like a Go duration. */
function secondsOf(ctx: RequestContext): number {
  const given = integer(ctx.query, "timeoutSeconds") ?? 0
  const seconds = Number.isSafeInteger(given * nanoseconds)
    ? given
    : Number(BigInt.asIntN(64, BigInt(given) * BigInt(nanoseconds))) / nanoseconds
  return Math.min(seconds || randomInt(defaultTimeout.minSeconds, defaultTimeout.maxSeconds), maxTimerSeconds)
}

/** Rejects if the first step fails at once; later failures are events of the stream. */
async function refusal(first: Promise<unknown>): Promise<void> {
  const pending = new Promise<void>((resolve) => setImmediate(resolve))
  await Promise.race([first, pending]).catch((error: unknown) => {
    // Resource versions that are too old or too new are reported in the stream, as upstream: clients expect the event.
    if (!isExpired(error) && !isTooLarge(error) && !(error instanceof StorageError)) throw error
  })
}

function isTooLarge(error: unknown): boolean {
  return error instanceof StatusError && error.status.details?.causes?.[0]?.reason === "ResourceVersionTooLarge"
}

function watchRequest(ctx: RequestContext): WatchRequest {
  const { limit: _limit, ...given } = listOptions(ctx)
  const options = flag(ctx.query, "watch") ? given : ofList(given)
  return {
    ...options,
    ...(startsAnywhere(ctx, options) ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" } : {}),
    // The deprecated path of a watch may name the object; a field selector for a name also sets the name of the request.
    ...(ctx.info.name === "" ? {} : { name: ctx.info.name }),
    allowBookmarks: flag(ctx.query, "allowWatchBookmarks"),
    endsWithEdition: true,
    signal: ctx.signal,
    ...(ctx.turn === undefined ? {} : { turn: ctx.turn, reading: ctx }),
  }
}

/** The deprecated path of a watch takes the options of a list, whose point in time a watch does not match. */
function ofList(options: ListOptions): ListOptions {
  checkListOptions(options)
  const { resourceVersionMatch: _match, ...others } = options
  return others
}

/** Such a watch starts with initial events, followed by a bookmark. Source: SetListOptionsDefaults. */
function startsAnywhere(
  { query }: RequestContext,
  { resourceVersion = "0", resourceVersionMatch, sendInitialEvents }: ListOptions,
): boolean {
  const isDefaulted = sendInitialEvents === undefined && resourceVersionMatch === undefined
  return isDefaulted && resourceVersion === "0" && flag(query, "watch") // not for the deprecated path
}
