// The image of a store: its current values in one file next to LevelDB's files, written when the store is closed. Opening the store reads
// only this file, whereas LevelDB would write several files and flush each. LevelDB is opened for the first write, or the first read
// of anything but a current value (level-store.ts). An image is never required: without one the store is opened from LevelDB.
//
// While the store is written to, the file has only its header: the store has got to that revision. If LevelDB has less when it is opened
// later, some of its data is gone that it does not miss: a log that has been emptied, or cut, looks like one that was never written.
//
//   header, one line of JSON; then, for each entry of the tables "current" and "tombstone" (keys.ts):
//   keyLength(4) dataLength(4) key data; at the end a CRC-32(4) of all before it. Integers are unsigned, big endian.
//
// An image is not flushed, and old images are never removed. Its values are valid as long as
// - LevelDB has not been opened since: each opening starts a new manifest before any other write, and
// - the machine has not been restarted since: data handed to the kernel is on the disk or in the kernel's memory.

import { readdir, readFile, writeFile } from "node:fs/promises"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import type { Revision } from "../types.ts"
import type { Usage } from "../quota.ts"

const fileName = "IMAGE"
const format = 2
const lengthsBytes = 8
const checksumBytes = 4
const lineEnd = "\n".charCodeAt(0)

/** An entry of one of LevelDB's tables, with the table's letter before its key. */
export type TableEntry = readonly [key: string, data: Buffer]

/** The state of a store that is known without its LevelDB. */
export interface Image {
  head: Revision
  compacted: Revision
  usage: Usage | undefined
  /** Undefined: only LevelDB has them, and the rest of this state may have changed since. */
  entries: Iterable<TableEntry> | undefined
}

interface Header {
  format: number
  boot: string
  manifest: string
  head: Revision
  compacted: Revision
  usage?: Usage
  hasEntries: boolean
}

/** The kernel's boot id, which changes with each start of the machine. Undefined on systems without one. */
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

/** Undefined if there is no image, or not a whole one. */
export async function readImage(directory: string): Promise<Image | undefined> {
  const running = currentBoot()
  if (running === undefined) return undefined
  const [data, manifest] = await Promise.all([readIfThere(directory), manifestIn(directory)])
  if (data === undefined || !isWhole(data)) return undefined
  const headerEnd = data.indexOf(lineEnd)
  const header = JSON.parse(data.toString("utf8", 0, headerEnd)) as Header
  if (header.format !== format) return undefined
  const { head, compacted, usage, hasEntries } = header
  const isComplete = hasEntries && header.boot === running && header.manifest === manifest
  return {
    head,
    compacted,
    usage,
    entries: isComplete ? entriesOf(data.subarray(headerEnd + 1, -checksumBytes)) : undefined,
  }
}

/**
 * Writes the image of a store. Its values only if this process has closed its LevelDB, and it has not been written to since `image` was
 * valid.
 */
export async function writeImage(directory: string, image: Image): Promise<void> {
  const running = currentBoot()
  const manifest = await manifestIn(directory)
  if (running === undefined || manifest === undefined) return
  const { head, compacted, usage, entries } = image
  const hasEntries = entries !== undefined
  const common = { format, boot: running, manifest, head, compacted, hasEntries }
  const header: Header = usage === undefined ? common : { ...common, usage }
  const pieces: Buffer[] = [Buffer.from(`${JSON.stringify(header)}\n`)]
  for (const [key, data] of entries ?? []) {
    const lengths = Buffer.allocUnsafe(lengthsBytes)
    const keyBytes = Buffer.from(key)
    lengths.writeUInt32BE(keyBytes.length, 0)
    lengths.writeUInt32BE(data.length, 4)
    pieces.push(lengths, keyBytes, data)
  }
  const content = Buffer.concat([...pieces, Buffer.alloc(checksumBytes)])
  const end = content.length - checksumBytes
  content.writeUInt32BE(crc32(content.subarray(0, end)), end)
  // Overwrites the old image: that one is no longer valid, and the checksum detects a partially written one.
  await writeFile(join(directory, fileName), content, { mode: 0o600 })
}

async function readIfThere(directory: string): Promise<Buffer | undefined> {
  try {
    return await readFile(join(directory, fileName))
  } catch {
    return undefined // for any reason: LevelDB is opened next and reports the error
  }
}

/**
 * The name of LevelDB's only manifest. LevelDB's file CURRENT contains the same name but is written later: a snapshot of the volume may
 * contain data written after an opening, but not yet the new content of CURRENT.
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

/** The data of the entries are views of the file's bytes. */
function* entriesOf(body: Buffer): Generator<TableEntry> {
  for (let at = 0; at < body.length;) {
    const keyStart = at + lengthsBytes
    const dataStart = keyStart + body.readUInt32BE(at)
    const end = dataStart + body.readUInt32BE(at + 4)
    yield [body.toString("utf8", keyStart, dataStart), body.subarray(dataStart, end)]
    at = end
  }
}
