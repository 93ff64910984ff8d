// Reads request bodies: their size limit, when they are processed, and on which thread. Next: body.ts.

import type { IncomingMessage } from "node:http"
import { type Parsed, yamlAsJson } from "../../apimachinery/schema/json/parse.ts"
import type { YamlOutcome } from "../../apimachinery/schema/yaml/convert.ts"
import { requestEntityTooLarge } from "../../apimachinery/status.ts"
import { inSteps } from "../../apimachinery/steps.ts"
import { GatheredBytes } from "../../client/http/gathered-bytes.ts"
import { checkAwaited } from "../request/awaited.ts"
import type { RequestContext } from "../request/context.ts"
import { minThreadBytes, yamlThread } from "../request/yaml-thread.ts"
import { largeBytes } from "../request/large-places.ts"
import { mediaType } from "./negotiation.ts"

/** Long YAML is already parsed; other bodies are parsed when they are decoded. */
export interface RequestBody {
  readonly bytes: Buffer
  readonly converted?: YamlOutcome
  /** Removed by the first reader, which owns it. */
  json?: Parsed | undefined
}

/** Can be called once; the caller may modify the result. */
export function takeJson(body: RequestBody): Parsed | undefined {
  const { json } = body
  body.json = undefined
  return json
}

/** A body that was sent with its headers has been received within this time. */
const withHeadMs = 1
const yamlTypes: ReadonlySet<string> = new Set(["application/yaml", "application/apply-patch+yaml"])

/**
 * Throws 413 beyond `limit` bytes and stops reading the connection. A body that arrives later than its headers waits for a turn, so
 * that many concurrent bodies of one client are not all processed in one turn. Those of requests that have ended meanwhile are dropped:
 * their client may send more than are processed.
 */
export async function readBody(ctx: RequestContext, request: IncomingMessage, limit: number): Promise<RequestBody> {
  const tooLarge = () => requestEntityTooLarge(`Request entity too large: limit is ${limit}`)
  if (Number(request.headers["content-length"] ?? 0) > limit) {
    request.resume() // received data is discarded; the response closes the connection
    throw tooLarge()
  }
  const asked = performance.now()
  const bytes = await bytesOf(ctx, request, limit)
  if (bytes === undefined) throw tooLarge()
  if (performance.now() - asked > withHeadMs) await ctx.turn?.()
  checkAwaited(ctx)
  const isYaml = bytes.length >= minThreadBytes && yamlTypes.has(mediaType(ctx.headers["content-type"] ?? ""))
  return isYaml ? await readYaml(ctx, bytes) : { bytes }
}

async function readYaml(ctx: RequestContext, bytes: Buffer): Promise<RequestBody> {
  try {
    const json = await inSteps(yamlAsJson(bytes, { duplicates: true }), ctx.pause)
    if (json !== undefined) return { bytes, json }
  } catch {
    return { bytes } // the decoder rejects it with an error for the expected kind
  }
  const convert = (): Promise<YamlOutcome> => yamlThread.convert(bytes)
  const converted = await (ctx.aside?.(convert) ?? convert())
  await ctx.turn?.()
  return { bytes, converted }
}

/**
 * Resolves with undefined if there are more than `limit` bytes; the rest is discarded. Uses events because an iterator would
 * dominate the cost.
 */
function bytesOf(ctx: RequestContext, request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const cutOff = (): void => {
      if (!request.readableEnded) reject(new Error("the request ended before its body did"))
    }
    if (request.destroyed) return cutOff()
    const wait = (place: Promise<void> | undefined): void => {
      if (place === undefined) return
      request.pause()
      place.then(() => request.resume(), reject)
    }
    const body = new GatheredBytes()
    let bytes = 0
    request.on("data", (chunk: Buffer) => {
      const before = bytes
      bytes += chunk.length
      if (before <= largeBytes && bytes > largeBytes) wait(ctx.enlargeBody?.())
      if (bytes <= limit) body.add(chunk)
      else {
        body.clear()
        resolve(undefined)
      }
    })
    request.on("end", () => resolve(body.all()))
    request.on("error", reject)
    request.on("close", cutOff)
  })
}
