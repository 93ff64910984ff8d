// Parses PEM (RFC 7468) like Go. Source: encoding/pem.

import { X509Certificate } from "node:crypto"

const lineLength = 64
const begin = "-----BEGIN "
const end = "-----END "
const dashes = "-----"

export interface PEMBlock {
  type: string
  hasHeaders: boolean
  content: Buffer
  /** The position after the block. */
  end: number
}

export function printPEM(label: string, content: Buffer): string {
  const text = content.toString("base64")
  let lines = ""
  for (let at = 0; at < text.length; at += lineLength) lines += `${text.slice(at, at + lineLength)}\n`
  return `${begin}${label}${dashes}\n${lines}${end}${label}${dashes}\n`
}

/** DER of the first block. */
export function parsePEM(text: string): Buffer {
  const [block] = pemBlocks(text)
  if (block === undefined) throw new Error("not PEM")
  return block.content
}

/** Text outside of blocks is ignored. */
export function* pemBlocks(text: string): Generator<PEMBlock> {
  let at = startOf(text, begin, 0)
  let bodyEnd = 0
  while (at >= 0) {
    const typeEnd = lineEnd(text, at)
    const head = text.slice(at + begin.length, typeEnd).trimEnd()
    // Searched once for all preceding beginnings, so that a long text with many beginnings is read only once.
    if (bodyEnd < typeEnd) bodyEnd = startOf(text, end, typeEnd)
    if (bodyEnd < 0) return
    const after = lineEnd(text, bodyEnd)
    if (head.endsWith(dashes) && text.slice(bodyEnd + end.length, after).trimEnd() === head) {
      const block = blockOf(head.slice(0, -dashes.length), text.slice(typeEnd, bodyEnd))
      if (block !== undefined) yield { ...block, end: Math.min(after + 1, text.length) }
      at = startOf(text, begin, after)
    } else at = startOf(text, begin, typeEnd)
  }
}

/** Whether the content of a block is a certificate that can be read. */
export function isCertificate(content: Buffer): boolean {
  try {
    return new X509Certificate(content).raw.length > 0
  } catch {
    // OpenSSL's reason differs from Go's.
    return false
  }
}

function blockOf(type: string, body: string): Omit<PEMBlock, "end"> | undefined {
  const lines = body.split("\n").slice(1)
  const first = lines.findIndex((line) => !line.includes(":"))
  const content = lines
    .slice(first < 0 ? lines.length : first)
    .join("")
    .replaceAll(/[ \t\r]/g, "")
  if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(content)) return undefined
  return { type, hasHeaders: first > 0, content: Buffer.from(content, "base64") }
}

/** The position of a line that begins with `words`; -1 if there is none. */
function startOf(text: string, words: string, from: number): number {
  if (from === 0 && text.startsWith(words)) return 0
  const found = text.indexOf(`\n${words}`, from)
  return found < 0 ? -1 : found + 1
}

function lineEnd(text: string, from: number): number {
  const found = text.indexOf("\n", from)
  return found < 0 ? text.length : found
}
