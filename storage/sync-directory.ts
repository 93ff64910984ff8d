// The names in a directory outlive a loss of power once the directory is flushed: flushing a new file keeps what is in it, and
// POSIX promises nothing of the entry that leads to it.

import { open } from "node:fs/promises"

/** After a file or directory was made or renamed in it, before anybody is told. Fails as open and fsync do. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows flushes no directories; NTFS keeps names in the order of its journal.
  if (process.platform === "win32") return
  await using directory = await open(path, "r")
  await directory.sync()
}
