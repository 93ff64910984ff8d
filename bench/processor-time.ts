// The cost of processes, from /proc: processor time and memory. Linux only.

import { readdir, readFile } from "node:fs/promises"

/** Processor time so far in microseconds, of all existing threads. */
export async function processorTime(pids: readonly number[]): Promise<number> {
  let nanoseconds = 0
  for (const pid of pids) {
    for (const thread of await readdir(`/proc/${pid}/task`)) {
      // A thread may end between the two calls.
      const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, "utf8").catch(() => "0")
      nanoseconds += Number(text.split(" ")[0])
    }
  }
  return nanoseconds / 1000
}

/** `RssAnon` excludes file pages, which the kernel reclaims when it needs memory; `VmHWM` is the highest so far. */
export async function residentMiB(
  pids: readonly number[],
  which: "VmRSS" | "RssAnon" | "VmHWM" = "VmRSS",
): Promise<number> {
  let kibibytes = 0
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/status`, "utf8")
    kibibytes += Number(new RegExp(`^${which}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0)
  }
  return kibibytes / 1024
}
