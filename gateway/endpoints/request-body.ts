// A request's body as it comes over the wire: how much, when it is worked on, and on which thread. Next: body.ts.

import type { IncomingMessage } from "node:http"
import { type Parsed, yamlAsJson } from "../../apimachinery/schema/parse.ts"
import type { YamlOutcome } from "../../apimachinery/schema/yaml/convert.ts"
import { requestEntityTooLarge } from "../../apimachinery/status.ts"
import type { RequestContext } from "../request/context.ts"
import { minAsideBytes, YamlThread } from "../request/yaml-thread.ts"
import { mediaType } from "./negotiation.ts"

/** Long YAML has been read, others are with what they are decoded to. */
export interface RequestBody {
  readonly bytes: Buffer
  readonly converted?: YamlOutcome
  /** Who decodes it first takes it over. */
  json?: Parsed | undefined
}

/** Once: it is the taker's to change. */
export function takeJson(body: RequestBody): Parsed | undefined {
  const { json } = body
  body.json = undefined
  return json
}

/** What came with the head of the request is there at once. */
const withHeadMs = 1
const yamlTypes: ReadonlySet<string> = new Set(["application/yaml", "application/apply-patch+yaml"])
/** Of the process: whose turn it is, is told by who asks for it. */
const yamlThread = new YamlThread()

/**
 * Beyond `limit` bytes 413, and the connection is not read further. A body that comes later than its head comes when others have
 * their turn: who sends many of them at the same time must not have all of them worked on in one.
 */
export async function readBody(ctx: RequestContext, request: IncomingMessage, limit: number): Promise<RequestBody> {
  const tooLarge = () => requestEntityTooLarge(`Request entity too large: limit is ${limit}`)
  if (Number(request.headers["content-length"] ?? 0) > limit) {
    request.resume() // what is under way is thrown away; the answer closes the connection
    throw tooLarge()
  }
  const asked = performance.now()
  const chunks = await chunksOf(request, limit)
  if (chunks === undefined) throw tooLarge()
  if (performance.now() - asked > withHeadMs) await ctx.turn?.()
  const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
  const isYaml = bytes.length >= minAsideBytes && yamlTypes.has(mediaType(ctx.headers["content-type"] ?? ""))
  return isYaml ? await readYaml(ctx, bytes) : { bytes }
}

async function readYaml(ctx: RequestContext, bytes: Buffer): Promise<RequestBody> {
  try {
    const json = yamlAsJson(bytes, { duplicates: true })
    if (json !== undefined) return { bytes, json }
  } catch {
    return { bytes } // refused at once; who decodes it says why in the words of what it was to be
  }
  const convert = (): Promise<YamlOutcome> => yamlThread.convert(bytes)
  const converted = await (ctx.aside?.(convert) ?? convert())
  await ctx.turn?.()
  return { bytes, converted }
}

/**
 * Undefined: there are more than `limit` bytes; the rest is thrown away. With events, since an iterator costs more than all else
 * here.
 */
function chunksOf(request: IncomingMessage, limit: number): Promise<readonly Buffer[] | undefined> {
  return new Promise((resolve, reject) => {
    const cutOff = (): void => {
      if (!request.readableEnded) reject(new Error("the request ended before its body did"))
    }
    if (request.destroyed) return cutOff()
    const chunks: Buffer[] = []
    let bytes = 0
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= limit) chunks.push(chunk)
      else {
        chunks.length = 0
        resolve(undefined)
      }
    })
    request.on("end", () => resolve(chunks))
    request.on("error", reject)
    request.on("close", cutOff)
  })
}
