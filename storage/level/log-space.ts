// Space ahead in LevelDB's log. A log that grows with each write makes the file system note its new length for each flush, together with
// what is pending for other files; where zeros are overwritten, only the data is flushed. LevelDB takes zeros for what was never
// written, and so does log-file.ts. See docs/decisions/0029.

import { constants } from "node:fs"
import { open, readdir, readFile, truncate } from "node:fs/promises"
import { join } from "node:path"
import { endOfLog } from "./files/log-file.ts"
import type { Write } from "./revision-log.ts"

/** What LevelDB adds to a batch, and to each write in it. */
const batchBytes = 24
const writeBytes = 8

/** The log is looked at again after this part of the space made at once, and gets more if less than that is left twice. */
const lookAgainAfter = 1 / 8

export class LogSpace {
  readonly #directory: string
  readonly #bytesAtOnce: number
  /** Bytes written since the log was last looked at. */
  #written = 0
  #lookAfter: number
  /** The log that has space, and how much: an estimate, since only LevelDB knows how long what it writes is. */
  #log: { path: string; left: number } | undefined
  #looking: Promise<void> | undefined

  /** `bytesAtOnce`: 0 for none. The first space is made late, since most stores are opened for a few writes. */
  constructor(directory: string, bytesAtOnce: number) {
    this.#directory = directory
    this.#bytesAtOnce = bytesAtOnce
    this.#lookAfter = bytesAtOnce === 0 ? Infinity : bytesAtOnce / 2
  }

  /** LevelDB has written the batch. Nobody waits for the space. */
  wrote(batch: readonly Write[]): void {
    this.#written += sizeOf(batch)
    if (this.#written < this.#lookAfter || this.#looking !== undefined) return
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined
    })
  }

  /** Resolves when nothing is written into logs any more. */
  async stop(): Promise<void> {
    this.#lookAfter = Infinity
    await this.#looking
  }

  /** Gives back what is left, after stop() and after LevelDB has been closed. */
  async trim(): Promise<void> {
    if (this.#log === undefined) return
    const { path } = this.#log
    try {
      const content = await readFile(path)
      const end = endOfLog(content)
      if (end < content.length) await truncate(path, end)
    } catch {
      // The zeros do no harm, and are gone with this log when the store is opened again.
    }
  }

  async #look(): Promise<void> {
    const written = this.#written
    this.#written = 0
    this.#lookAfter = Math.min(this.#lookAfter, this.#bytesAtOnce * lookAgainAfter)
    try {
      const path = await this.#newestLog()
      if (path === undefined) return
      if (path === this.#log?.path) this.#log.left -= written
      else this.#log = { path, left: 0 }
      if (this.#log.left >= 2 * this.#lookAfter) return
      await append(path, Buffer.alloc(this.#bytesAtOnce))
      this.#log.left = Math.max(0, this.#log.left) + this.#bytesAtOnce
    } catch {
      // Nothing needs the space: LevelDB has gone on to another log, or the disk is full or broken, of which the next write tells.
    }
  }

  /** The one that LevelDB writes to: it has one or two. */
  async #newestLog(): Promise<string | undefined> {
    // Their numbers have six digits or, beyond them, more.
    const numberOf = (name: string): number => Number.parseInt(name, 10)
    const logs = (await readdir(this.#directory)).filter((name) => name.endsWith(".log"))
    const newest = logs.toSorted((a, b) => numberOf(a) - numberOf(b)).at(-1)
    return newest === undefined ? undefined : join(this.#directory, newest)
  }
}

/**
 * LevelDB may write at the same time: it has its own position, which is never beyond the end, and the kernel finds the end and moves it
 * in one step. Does not create the file.
 */
async function append(path: string, data: Buffer): Promise<void> {
  await using file = await open(path, constants.O_WRONLY | constants.O_APPEND)
  await file.write(data)
  await file.datasync()
}

function sizeOf(batch: readonly Write[]): number {
  let bytes = batchBytes
  for (const write of batch) bytes += writeBytes + write.key.length + (write.type === "put" ? write.value.length : 0)
  return bytes
}
