// The frames of a WebSocket whose messages are nothing but pieces of one byte stream: of a message nothing is kept until it is complete,
// since a client may leave thousands of them incomplete. Source: RFC 6455, section 5.

import { isUtf8 } from "node:buffer"

/** Of the payload of a control frame. */
const maxControlBytes = 125
const maxHeaderBytes = 14

const opcodes = { continuation: 0, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** Codes of a close frame. `none`: it has no payload. */
export const closeCodes = { normal: 1000, protocolError: 1002, unsupported: 1003, none: 1005, tooLong: 1009 } as const

/** Reads what a client sends, which is masked. */
export class ClientFrames {
  /** With which the connection is to be closed: the client has done so, or what it has sent is no such WebSocket. Nothing is read then. */
  closeCode: number | undefined
  /** The payload of the last ping that has come, until it is taken to be answered. */
  ping: Buffer | undefined
  readonly #header = Buffer.alloc(maxHeaderBytes)
  /** Bytes of the header that have come, and that it has as far as is known. 0: the frame has begun. */
  #filled = 0
  #headerBytes = 2
  #opcode: number = opcodes.continuation
  #isFinal = true
  /** What is missing of the frame's payload. */
  #left = 0
  readonly #mask = Buffer.alloc(4)
  /** The next byte of the mask. */
  #masked = 0
  readonly #control = Buffer.alloc(maxControlBytes)
  #controlBytes = 0
  #isInMessage = false

  /** Returns the bytes of messages in `piece`, whose memory it reuses. */
  read(piece: Buffer): Buffer {
    let [at, bytes] = [0, 0]
    while (at < piece.length && this.closeCode === undefined) {
      if (this.#headerBytes > 0) {
        at = this.#readHeader(piece, at)
        continue
      }
      const end = Math.min(piece.length, at + this.#left)
      this.#unmask(piece, at, end)
      if (isControl(this.#opcode)) this.#controlBytes += piece.copy(this.#control, this.#controlBytes, at, end)
      else {
        piece.copyWithin(bytes, at, end)
        bytes += end - at
      }
      this.#left -= end - at
      at = end
      if (this.#left === 0) this.#end()
    }
    const read = piece.subarray(0, bytes)
    // What waits somewhere of a few bytes must not hold all that came with them.
    return bytes < piece.length / 2 ? Buffer.from(read) : read
  }

  /** Returns where it has stopped reading. */
  #readHeader(piece: Buffer, from: number): number {
    const header = this.#header
    let at = from
    while (at < piece.length && this.#filled < this.#headerBytes) {
      header[this.#filled++] = piece[at++] ?? 0
      if (this.#filled === 2) this.#headerBytes = headerBytesOf(header)
    }
    if (this.#filled === this.#headerBytes) this.#begin()
    return at
  }

  #begin(): void {
    const header = this.#header
    const [flags = 0, second = 0] = header
    this.#opcode = flags & 0x0f
    this.#isFinal = (flags & 0x80) !== 0
    this.#left = lengthIn(header, second & 0x7f)
    this.closeCode = this.#fault(flags, second)
    if (this.closeCode !== undefined) return
    header.copy(this.#mask, 0, this.#headerBytes - this.#mask.length, this.#headerBytes)
    this.#masked = 0
    this.#controlBytes = 0
    this.#filled = 0
    this.#headerBytes = 0
    if (this.#left === 0) this.#end()
  }

  #fault(flags: number, second: number): number | undefined {
    if ((flags & 0x70) !== 0 || (second & 0x80) === 0) return closeCodes.protocolError
    if (isControl(this.#opcode)) {
      const isKnown = this.#opcode <= opcodes.pong && this.#isFinal && this.#left <= maxControlBytes
      return isKnown ? undefined : closeCodes.protocolError
    }
    const begins = this.#opcode !== opcodes.continuation
    if (begins === this.#isInMessage) return closeCodes.protocolError
    if (begins && this.#opcode !== opcodes.binary) return closeCodes.unsupported
    return Number.isSafeInteger(this.#left) ? undefined : closeCodes.tooLong
  }

  #unmask(piece: Buffer, from: number, end: number): void {
    const mask = this.#mask
    let masked = this.#masked
    for (let at = from; at < end; at++) piece[at] = (piece[at] ?? 0) ^ (mask[masked++ & 3] ?? 0)
    this.#masked = masked & 3
  }

  #end(): void {
    this.#headerBytes = 2
    if (!isControl(this.#opcode)) {
      this.#isInMessage = !this.#isFinal
      return
    }
    const payload = this.#control.subarray(0, this.#controlBytes)
    if (this.#opcode === opcodes.ping) this.ping = Buffer.from(payload)
    else if (this.#opcode === opcodes.close) this.closeCode ??= answerToClose(payload)
  }
}

/** That of the client, if it is one that may be sent. Source: github.com/gorilla/websocket, conn.go (advanceFrame). */
function answerToClose(payload: Buffer): number {
  if (payload.length < 2) return closeCodes.none
  const code = payload.readUInt16BE(0)
  return isSent(code) && isUtf8(payload.subarray(2)) ? code : closeCodes.protocolError
}

const isSent = (code: number): boolean =>
  (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1013) || (code >= 3000 && code <= 4999)

const isControl = (opcode: number): boolean => opcode >= opcodes.close

/** Known from the first two bytes. One without a mask is a fault, and may have no more. */
function headerBytesOf([, second = 0]: Buffer): number {
  if ((second & 0x80) === 0) return 2
  const length = second & 0x7f
  return length === 126 ? 8 : length === 127 ? maxHeaderBytes : 6
}

function lengthIn(header: Buffer, length: number): number {
  if (length === 126) return header.readUInt16BE(2)
  return length === 127 ? Number(header.readBigUInt64BE(2)) : length
}

/** The header of a frame that a server sends: nothing is masked. */
function headerOf(opcode: number, length: number): Buffer {
  const flags = 0x80 | opcode
  if (length < 126) return Buffer.of(flags, length)
  const header = Buffer.alloc(length > 0xffff ? 10 : 4)
  header[0] = flags
  header[1] = length > 0xffff ? 127 : 126
  if (length > 0xffff) header.writeBigUInt64BE(BigInt(length), 2)
  else header.writeUInt16BE(length, 2)
  return header
}

/** To be sent before a message of that many bytes. */
export const messageHeader = (bytes: number): Buffer => headerOf(opcodes.binary, bytes)

export const pongFrame = (payload: Buffer): Buffer => Buffer.concat([headerOf(opcodes.pong, payload.length), payload])

export const closeFrame = (code: number): Buffer =>
  code === closeCodes.none
    ? headerOf(opcodes.close, 0)
    : Buffer.concat([headerOf(opcodes.close, 2), Buffer.of(code >> 8, code & 0xff)])
