// LevelDB on a machine that fails while it opens a database: it loses logs, and writes may fail.
//
// LevelDB opens a database without a log that it cannot open, or without the end of one that it cannot read, and removes that log. Here
// another file, which may be empty, takes the place of the log just before LevelDB opens it, which is the same to LevelDB.

import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Level } from "level"
import { afterEach, beforeEach } from "vitest"

/** What happens at the next opening. */
export const faults = {
  lose: undefined as ((directory: string) => Promise<void>) | undefined,
  /** The next write fails: nothing of it is done, or all. */
  fail: undefined as "before the write" | "after the write" | undefined,
  /** Reads fail. */
  unreadable: false,
}

type Method = "_open" | "_batch" | "_getSync"
// Those of classic-level, whose types do not have them.
const methods = Level.prototype as unknown as Record<Method, (...args: unknown[]) => unknown>

function failAt(step: typeof faults.fail): void {
  if (faults.fail !== step) return
  faults.fail = undefined
  throw Object.assign(new Error("IO error: no space left on device"), { code: "LEVEL_IO_ERROR" })
}

/** Call at the top of a test file. */
export function useLosingLevel(): void {
  const { _open, _batch, _getSync } = methods
  beforeEach(() => {
    methods._open = async function (this: Level, ...args) {
      const { lose } = faults
      faults.lose = undefined
      await lose?.(this.location)
      await _open.apply(this, args)
    }
    methods._getSync = function (this: Level, ...args) {
      if (faults.unreadable) throw new Error("IO error: too many open files")
      return _getSync.apply(this, args)
    }
    methods._batch = async function (this: Level, ...args) {
      failAt("before the write")
      await _batch.apply(this, args)
      failAt("after the write")
    }
  })
  afterEach(() => {
    Object.assign(methods, { _open, _batch, _getSync })
    Object.assign(faults, { lose: undefined, fail: undefined, unreadable: false })
  })
}

/** `share` of each log that is chosen remains for LevelDB. */
export function losing(
  share = 0,
  choose: (index: number) => boolean = () => true,
): (directory: string) => Promise<void> {
  return async (directory) => {
    const logs = (await logsIn(directory)).filter((_, index) => choose(index))
    for (const name of logs) {
      const path = join(directory, name)
      const content = await readFile(path)
      await writeFile(path, content.subarray(0, content.length * share))
    }
  }
}

export async function logsIn(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => [])
  return names.filter((name) => name.endsWith(".log")).toSorted()
}

/** Moves some records of the only log, if it is shorter than a block (of 32 KiB), to another log. */
export async function splitLog(directory: string): Promise<void> {
  const [name, another] = await logsIn(directory)
  if (name === undefined || another !== undefined) return
  const content = await readFile(join(directory, name))
  if (content.length > 32 * 1024) return
  let middle = 0
  while (middle < content.length / 2) middle += 7 + content.readUInt16LE(middle + 4)
  await writeFile(join(directory, name), content.subarray(0, middle))
  const next = String(Number.parseInt(name, 10) + 2).padStart(6, "0")
  await writeFile(join(directory, `${next}.log`), content.subarray(middle))
}
