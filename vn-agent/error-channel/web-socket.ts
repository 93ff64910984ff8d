// The error channel of a WebSocket, in what the server sends: each message begins with its channel. Source:
// k8s.io/streaming/pkg/httpstream/wsstream and k8s.io/cri-streaming.

import type { Translate } from "../../client/http/join.ts"
import { translateFrames, type Frame } from "./frames.ts"

/** Of the commands' channels. A port-forward has two channels for each port, the second of which is for errors. */
const commandErrors = 3

/** `protocol`: as the server has chosen it. `translate`: changes a text, whatever bytes are around it. */
export function webSocketErrors(
  protocol: string,
  isPortForward: boolean,
  translate: (text: Buffer) => Buffer,
): Translate {
  const isBase64 = protocol.includes("base64")
  const isError = (first: number): boolean => {
    const channel = isBase64 ? first - 0x30 : first
    return isPortForward ? channel % 2 === 1 : channel === commandErrors
  }
  /** Until the last frame of a message. */
  let inError = false
  const begin = (bytes: Buffer): Frame | undefined => {
    const header = readHeader(bytes)
    if (header === undefined) return undefined
    const { start, length, opcode, isLast } = header
    const size = start + length
    if (isControl(opcode)) return { size, whole: false }
    if (opcode !== 0 && length > 0) {
      const first = bytes[start]
      if (first === undefined) return undefined
      inError = isError(first)
    }
    if (inError && (opcode === 0 || !isLast)) throw new Error("an error in several frames cannot be translated")
    const whole = inError
    if (isLast) inError = false
    return { size, whole }
  }
  return translateFrames(begin, (frame) => {
    const { start = frame.length } = readHeader(frame) ?? {}
    const [first, text] = [frame.subarray(start, start + 1), frame.subarray(start + 1)]
    const translated = isBase64
      ? Buffer.from(translate(Buffer.from(text.toString(), "base64")).toString("base64"))
      : translate(text)
    return translated.equals(text) ? frame : Buffer.concat([headerOf(frame, 1 + translated.length), first, translated])
  })
}

const isControl = (opcode: number): boolean => opcode >= 8

interface Header {
  /** Of the payload. */
  start: number
  length: number
  opcode: number
  isLast: boolean
}

function readHeader(bytes: Buffer): Header | undefined {
  const [flags, second] = bytes
  if (flags === undefined || second === undefined) return undefined
  if ((second & 0x80) !== 0) throw new Error("a server masks nothing")
  const start = second === 126 ? 4 : second === 127 ? 10 : 2
  if (bytes.length < start) return undefined
  const length = start === 4 ? bytes.readUInt16BE(2) : start === 10 ? Number(bytes.readBigUInt64BE(2)) : second
  return { start, length, opcode: flags & 0x0f, isLast: (flags & 0x80) !== 0 }
}

function headerOf([flags = 0]: Buffer, length: number): Buffer {
  if (length < 126) return Buffer.of(flags, length)
  const long = length > 0xffff
  const header = Buffer.alloc(long ? 10 : 4)
  header[0] = flags
  header[1] = long ? 127 : 126
  if (long) header.writeBigUInt64BE(BigInt(length), 2)
  else header.writeUInt16BE(length, 2)
  return header
}
