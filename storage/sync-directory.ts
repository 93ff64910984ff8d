// The names in a directory outlive a loss of power once the directory is flushed: flushing a new file keeps what is in it, and
// POSIX promises nothing of the entry that leads to it.

import { mkdir, open, stat } from "node:fs/promises"
import { dirname } from "node:path"

/** After a file or directory was made or renamed in it, before anybody is told. Fails as open and fsync do. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows flushes no directories; NTFS keeps names in the order of its journal.
  if (process.platform === "win32") return
  await using directory = await open(path, "r")
  await directory.sync()
}

/**
 * With its parents, for their owner alone; all their names outlive a loss of power. Not Node's `recursive`: that never ends where no
 * directory can be made (/proc).
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
