// Temporary folders of tests. Each is removed with its owner; those left by a killed process are removed when the next one of
// their kind is created.

import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"

/** `kind`: the first word of the folder's name. */
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
