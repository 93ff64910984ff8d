// The image of a store: its current values in one file beside LevelDB's, written when it is closed. Who opens it reads that
// one file, where LevelDB writes several and flushes each; LevelDB is opened when something is to be written, or read that
// is no current value (level-store.ts). An image is never needed: without one the store is opened from LevelDB.
//
//   header, one line of JSON; then, for each entry of the tables "current" and "tombstone" (keys.ts):
//   keyLength(4) dataLength(4) key data; at the end a CRC-32(4) of all before it. Integers are unsigned, big endian.
//
// Nothing of it is flushed, and no old image is ever removed. One is true as long as
// - LevelDB has not been opened since: each opening begins a new manifest, before it is written to, and
// - the machine has not been started since: what the kernel has been told is on the disk or in its memory.

import { readdir, readFile, writeFile } from "node:fs/promises"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import type { Revision } from "../types.ts"
import type { Usage } from "../quota.ts"

const fileName = "IMAGE"
const format = 1
const lengthsBytes = 8
const checksumBytes = 4
const lineEnd = "\n".charCodeAt(0)

/** An entry of one of LevelDB's tables, with the table's letter before its key. */
export type TableEntry = readonly [key: string, data: Buffer]

/** What is known of a store without its LevelDB. */
export interface Image {
  head: Revision
  compacted: Revision
  usage: Usage | undefined
  entries: Iterable<TableEntry>
}

interface Header {
  format: number
  boot: string
  manifest: string
  head: Revision
  compacted: Revision
  usage?: Usage
}

/** The machine's running: another one after each start of its kernel. Undefined where the system does not tell. */
let boot: string | undefined | null = null
function currentBoot(): string | undefined {
  if (boot !== null) return boot
  try {
    boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()
  } catch {
    boot = undefined // not Linux: stores are opened from LevelDB
  }
  return boot
}

/** Undefined: there is none that is true. */
export async function readImage(directory: string): Promise<Image | undefined> {
  const running = currentBoot()
  if (running === undefined) return undefined
  const [data, manifest] = await Promise.all([readIfThere(directory), manifestIn(directory)])
  if (data === undefined || manifest === undefined || !isWhole(data)) return undefined
  const headerEnd = data.indexOf(lineEnd)
  const header = JSON.parse(data.toString("utf8", 0, headerEnd)) as Header
  if (header.format !== format || header.boot !== running || header.manifest !== manifest) return undefined
  const { head, compacted, usage } = header
  return { head, compacted, usage, entries: entriesOf(data.subarray(headerEnd + 1, -checksumBytes)) }
}

/** Of a store whose LevelDB has been closed by this process, and was not written to since `image` was true. */
export async function writeImage(directory: string, image: Image): Promise<void> {
  const running = currentBoot()
  const manifest = await manifestIn(directory)
  if (running === undefined || manifest === undefined) return
  const { head, compacted, usage, entries } = image
  const header: Header = { format, boot: running, manifest, head, compacted, ...(usage === undefined ? {} : { usage }) }
  const pieces: Buffer[] = [Buffer.from(`${JSON.stringify(header)}\n`)]
  for (const [key, data] of entries) {
    const lengths = Buffer.allocUnsafe(lengthsBytes)
    const keyBytes = Buffer.from(key)
    lengths.writeUInt32BE(keyBytes.length, 0)
    lengths.writeUInt32BE(data.length, 4)
    pieces.push(lengths, keyBytes, data)
  }
  const content = Buffer.concat([...pieces, Buffer.alloc(checksumBytes)])
  const end = content.length - checksumBytes
  content.writeUInt32BE(crc32(content.subarray(0, end)), end)
  // In its place: the old one is not true any more, and half of one is seen by its checksum.
  await writeFile(join(directory, fileName), content, { mode: 0o600 })
}

async function readIfThere(directory: string): Promise<Buffer | undefined> {
  try {
    return await readFile(join(directory, fileName))
  } catch {
    return undefined // whatever the reason is: LevelDB is opened next, and tells of it
  }
}

/**
 * The only one of LevelDB. Its file CURRENT says no more, and later: a snapshot of the volume may have what was written after an
 * opening, and not yet the name that CURRENT got by it.
 */
async function manifestIn(directory: string): Promise<string | undefined> {
  try {
    const [only, another] = (await readdir(directory)).filter((name) => name.startsWith("MANIFEST-"))
    return another === undefined ? only : undefined
  } catch {
    return undefined // as above
  }
}

function isWhole(data: Buffer): boolean {
  const end = data.length - checksumBytes
  return end > 0 && crc32(data.subarray(0, end)) === data.readUInt32BE(end)
}

/** The data lies in the file's own bytes. */
function* entriesOf(body: Buffer): Generator<TableEntry> {
  for (let at = 0; at < body.length;) {
    const keyStart = at + lengthsBytes
    const dataStart = keyStart + body.readUInt32BE(at)
    const end = dataStart + body.readUInt32BE(at + 4)
    yield [body.toString("utf8", keyStart, dataStart), body.subarray(dataStart, end)]
    at = end
  }
}
