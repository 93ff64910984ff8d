// Folders of tests among the system's temporary files. Each goes with who made it; what a process left that was killed goes when the
// next one of its kind is made.

import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"

/** `kind`: the first word of its name. */
export async function temporaryFolder(kind: string): Promise<string> {
  await removeAbandoned(`${kind}-`)
  return mkdtemp(path.join(tmpdir(), `${kind}-${process.pid}-`))
}

async function removeAbandoned(prefix: string): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = name.startsWith(prefix) ? (/^(\d+)-/.exec(name.slice(prefix.length)) ?? []) : []
    if (pid === undefined || isRunning(Number(pid))) continue
    await rm(path.join(tmpdir(), name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"
  }
}
