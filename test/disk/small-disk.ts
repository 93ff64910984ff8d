// A disk of a few MiB that disappears with its process: a tmpfs in its own mount namespace, accessed from outside through /proc.

import { once } from "node:events"
import { mkdtemp, rm, statfs, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { run, start } from "../harness/processes.ts"

/** Longer than any test that uses one. */
const maxSeconds = 600
const ballast = "ballast"

/** Undefined if a small disk can be created here; otherwise the reason. */
export async function whyNoSmallDisk(): Promise<string | undefined> {
  const { code, stderr } = await run("unshare", ["-m", "true"])
  return code === 0 ? undefined : `disks cannot be mounted here (unshare -m, which needs root): ${stderr.trim()}`
}

export class SmallDisk implements AsyncDisposable {
  /** Path from outside. */
  readonly path: string
  readonly #end: () => Promise<void>

  static async mount(megabytes: number): Promise<SmallDisk> {
    const directory = await mkdtemp(join(tmpdir(), "polyplane-disk-"))
    const script = `mount -t tmpfs -o size=${megabytes}m polyplane "$0" && echo mounted && exec sleep ${maxSeconds}`
    const holder = start("unshare", ["-m", "sh", "-c", script, directory], { stdio: ["ignore", "pipe", "inherit"] })
    const closed = once(holder, "close")
    const mounted = holder.stdout === null ? Promise.resolve([""]) : once(holder.stdout, "data")
    const [said] = (await Promise.race([mounted, closed])) as [unknown]
    const end = async (): Promise<void> => {
      holder.kill("SIGKILL")
      await closed
      await rm(directory, { recursive: true })
    }
    if (String(said) === "mounted\n") return new SmallDisk(`/proc/${holder.pid}/root${directory}`, end)
    await end()
    throw new Error("the disk could not be mounted")
  }

  /** Use SmallDisk.mount(). */
  constructor(path: string, end: () => Promise<void>) {
    this.path = path
    this.#end = end
  }

  /** Fills the disk except for this number of bytes. */
  async fill(freeBytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.path)
    await writeFile(join(this.path, ballast), Buffer.alloc(Math.max(0, bavail * bsize - freeBytes)))
  }

  /** Frees the space that fill() took. */
  free(): Promise<void> {
    return rm(join(this.path, ballast))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#end()
  }
}
