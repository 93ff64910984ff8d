// What processes cost, from /proc: time on a processor and memory. Linux only.

import { readdir, readFile } from "node:fs/promises"

/** Microseconds on a processor so far, of all threads that are there. */
export async function processorTime(pids: readonly number[]): Promise<number> {
  let nanoseconds = 0
  for (const pid of pids) {
    for (const thread of await readdir(`/proc/${pid}/task`)) {
      // A thread may end between the two reads.
      const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, "utf8").catch(() => "0")
      nanoseconds += Number(text.split(" ")[0])
    }
  }
  return nanoseconds / 1000
}

/** `RssAnon`: without pages of files, which the kernel has mapped and takes back when it needs them. */
export async function residentMiB(pids: readonly number[], which: "VmRSS" | "RssAnon" = "VmRSS"): Promise<number> {
  let kibibytes = 0
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/status`, "utf8")
    kibibytes += Number(new RegExp(`^${which}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0)
  }
  return kibibytes / 1024
}
