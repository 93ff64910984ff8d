// Flushes directories, so that the names in them survive a power loss: flushing a new file preserves its contents, but POSIX does not
// guarantee the directory entry.

import { closeSync, fsync, openSync } from "node:fs"
import { mkdir, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { promisify } from "node:util"

const flush = promisify(fsync)

/** Called after a file or directory was created or renamed in it, before that is acknowledged. Fails like open and fsync. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows does not flush directories; NTFS preserves names in the order of its journal.
  if (process.platform === "win32") return
  // The directory has just been used, so opening it needs no disk; waking a thread for it would take ten times as long.
  const directory = openSync(path, "r")
  try {
    await flush(directory)
  } finally {
    closeSync(directory)
  }
}

/**
 * Creates a directory and its parents with access for the owner only; all their names survive a power loss. Node's `recursive` is not
 * used, because it never returns where no directory can be created (/proc).
 */
export async function makeDirectory(path: string): Promise<void> {
  const make = async (): Promise<void> => {
    await mkdir(path, { mode: 0o700 })
    await syncDirectory(dirname(path))
  }
  try {
    await make()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return
    if (code !== "ENOENT" || dirname(path) === path) throw error
    await makeDirectory(dirname(path))
    await make()
  }
}
