import { once } from "node:events"
import { randomInt } from "node:crypto"
import { stringify } from "yaml"
import { StatusError, internalError, isExpired } from "../../../apimachinery/status.ts"
import { StorageError } from "../../../storage/types.ts"
import type { RequestContext } from "../../request/context.ts"
import type { RegistryEvent, WatchRequest } from "../../registry/rest.ts"
import type { Endpoint } from "../endpoint.ts"
import { negotiate, type Negotiated } from "../negotiation.ts"
import { flag, integer, listOptions } from "../request-options.ts"
import { includeObject } from "../respond.ts"
import { partialMetadata, table } from "../table-output.ts"

/** A watch that does not say how long ends after 30 to 60 minutes, at random, so that clients do not all return at once. */
const defaultTimeout = { minSeconds: 1800, maxSeconds: 3600 }
/** Bytes a client may leave unread; beyond it the watch ends and the client resumes. */
const maxUnreadBytes = 16 * 1024 * 1024

/** GET with watch=true: one JSON document per event and line, for as long as the client stays. */
export async function watch(ctx: RequestContext, endpoint: Endpoint): Promise<void> {
  const { registry, response } = endpoint
  const wanted = negotiate(ctx.headers["accept"])
  const seconds = integer(ctx.query.get("timeoutSeconds") ?? undefined, "timeoutSeconds")
  const timeout = AbortSignal.timeout(
    (seconds || randomInt(defaultTimeout.minSeconds, defaultTimeout.maxSeconds)) * 1000,
  )
  const signal = AbortSignal.any([ctx.signal, timeout])
  const events = registry.watch(ctx, watchRequest(ctx, signal))[Symbol.asyncIterator]()
  // What is wrong with the request itself is answered as an error, not as an event.
  const first = events.next()
  await refusal(first)
  response.writeHead(200, { "content-type": streamType(wanted), "cache-control": "no-cache, private" })
  response.flushHeaders()
  const printer = createPrinter(ctx, endpoint, wanted)
  try {
    for (let next = await first; next.done !== true; next = await events.next()) {
      const more = response.write(Buffer.concat(next.value.map(printer)))
      if (response.writableLength > maxUnreadBytes) break
      if (!more) await once(response, "drain", { signal })
    }
  } catch (error) {
    if (!signal.aborted) response.write(errorEvent(error))
  } finally {
    await events.return?.()
    response.end()
  }
}

/** Fails when the first step fails at once; otherwise the stream begins, and failures are told in it. */
async function refusal(first: Promise<unknown>): Promise<void> {
  const pending = new Promise<void>((resolve) => setImmediate(resolve))
  await Promise.race([first, pending]).catch((error: unknown) => {
    // Too old is told in the stream, as upstream does: clients look for the event.
    if (!isExpired(error) && !(error instanceof StorageError)) throw error
  })
}

function watchRequest(ctx: RequestContext, signal: AbortSignal): WatchRequest {
  const { namespace, labelSelector, fieldSelector, resourceVersion, resourceVersionMatch } = listOptions(ctx)
  const given = Object.entries({ namespace, labelSelector, fieldSelector, resourceVersion, resourceVersionMatch })
  return {
    ...(Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Omit<WatchRequest, "signal">),
    ...(ctx.query.has("sendInitialEvents") ? { sendInitialEvents: flag(ctx.query, "sendInitialEvents") } : {}),
    allowBookmarks: flag(ctx.query, "allowWatchBookmarks"),
    signal,
  }
}

function streamType({ format, contentType }: Negotiated): string {
  return format === "yaml" ? "application/yaml;stream=watch" : contentType
}

/** One event as bytes. Whole objects are wrapped, not parsed. */
function createPrinter(
  ctx: RequestContext,
  { definition }: Endpoint,
  wanted: Negotiated,
): (event: RegistryEvent) => Buffer {
  let columnsSent = false
  const include = includeObject(ctx)
  const reduced = ({ type, value }: RegistryEvent): unknown => {
    if (wanted.as === "metadata") return partialMetadata(value.object())
    if (wanted.as === "object") return value.object()
    const withColumns = !columnsSent
    columnsSent = true
    const objects = type === "BOOKMARK" ? [] : [value.object()]
    return table(
      objects,
      definition.columns,
      { resourceVersion: value.resourceVersion },
      include,
      withColumns,
      Date.now(),
    )
  }
  if (wanted.format === "yaml")
    return (event) => Buffer.from(`---\n${stringify({ type: event.type, object: reduced(event) })}`)
  if (wanted.as !== "object")
    return (event) => Buffer.from(`${JSON.stringify({ type: event.type, object: reduced(event) })}\n`)
  return lineOf
}

/** Events are shared by all watches of a resource, and so are their lines; both go when the store forgets the change. */
const lines = new WeakMap<RegistryEvent, Buffer>()
const ending = Buffer.from("}\n")

function lineOf(event: RegistryEvent): Buffer {
  let line = lines.get(event)
  if (line === undefined) {
    const { type, value } = event
    const opening = Buffer.from(`{"type":"${type}","object":`, "latin1")
    line = Buffer.allocUnsafe(opening.length + value.length + ending.length)
    opening.copy(line)
    value.copyTo(line, opening.length)
    ending.copy(line, opening.length + value.length)
    lines.set(event, line)
  }
  return line
}

function errorEvent(error: unknown): string {
  const status =
    error instanceof StatusError
      ? error
      : internalError(error instanceof Error ? error.message : String(error), { cause: error })
  return `${JSON.stringify({ type: "ERROR", object: status.status })}\n`
}
