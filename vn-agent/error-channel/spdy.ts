// The error streams of a SPDY/3.1 connection: the client opens them, naming the type of each in its headers, and the server sends
// texts on them. Source: the protocol's draft 3.1, github.com/moby/spdystream.

import type { Translation } from "../../client/http/join.ts"
import { translateFrames, type Frame } from "./frames.ts"
import { HeaderBlocks } from "./spdy-headers.ts"

const frameHeaderBytes = 8
const types = { synStream: 1, synReply: 2, rstStream: 3, headers: 8 } as const
/** Where the compressed headers begin. */
const headersAt: ReadonlyMap<number, number> = new Map([
  [types.synStream, 18],
  [types.synReply, 12],
  [types.headers, 12],
])
const finFlag = 1
/** Far more than connections that one kubectl forwards at the same time. */
const maxErrorStreams = 4096

/** `translate`: changes a text, whatever bytes are around it. */
export function spdyErrors(translate: (text: Buffer) => Buffer): Translation {
  const errors = new Set<number>()
  const blocks = new HeaderBlocks()

  const opened = (frame: Buffer): Buffer => {
    const type = controlType(frame)
    const headers = blocks.read(frame.subarray(headersAt.get(type ?? 0) ?? frame.length))
    if (type === types.synStream && headers.get("streamtype") === "error") errors.add(streamOf(frame, frameHeaderBytes))
    if (errors.size > maxErrorStreams) throw new Error(`more than ${maxErrorStreams} error streams are open`)
    return frame
  }
  const reset = (frame: Buffer): Buffer => {
    errors.delete(streamOf(frame, frameHeaderBytes))
    return frame
  }
  const said = (frame: Buffer): Buffer => {
    const text = frame.subarray(frameHeaderBytes)
    if (((frame[4] ?? 0) & finFlag) !== 0) errors.delete(streamOf(frame, 0))
    const translated = translate(text)
    if (translated.equals(text)) return frame
    const header = Buffer.from(frame.subarray(0, frameHeaderBytes))
    header.writeUIntBE(translated.length, 5, 3)
    return Buffer.concat([header, translated])
  }

  const fromClient = (bytes: Buffer): Frame | undefined => {
    const size = sizeOf(bytes)
    if (size === undefined) return undefined
    const type = controlType(bytes)
    return { size, whole: type !== undefined && (headersAt.has(type) || type === types.rstStream) }
  }
  const fromTarget = (bytes: Buffer): Frame | undefined => {
    const size = sizeOf(bytes)
    if (size === undefined) return undefined
    const type = controlType(bytes)
    return { size, whole: type === undefined ? errors.has(streamOf(bytes, 0)) : type === types.rstStream }
  }
  return {
    fromClient: translateFrames(fromClient, (frame) =>
      (controlType(frame) === types.rstStream ? reset : opened)(frame),
    ),
    fromTarget: translateFrames(fromTarget, (frame) => (controlType(frame) === types.rstStream ? reset : said)(frame)),
  }
}

/** Undefined while its header is incomplete. */
const sizeOf = (bytes: Buffer): number | undefined =>
  bytes.length < frameHeaderBytes ? undefined : frameHeaderBytes + bytes.readUIntBE(5, 3)

/** Undefined for data. */
const controlType = (bytes: Buffer): number | undefined =>
  ((bytes[0] ?? 0) & 0x80) === 0 || bytes.length < frameHeaderBytes ? undefined : bytes.readUInt16BE(2)

const streamOf = (frame: Buffer, offset: number): number =>
  frame.length < offset + 4 ? 0 : frame.readUInt32BE(offset) & 0x7fffffff
