// Reports progress of operations that take longer than a second, every few seconds on standard error.

import { type Clock, systemClock } from "../client/clock.ts"

const firstMs = 1_000
const againMs = 5_000

/** Runs `work`; while it takes long, prints `what` with the elapsed seconds. */
export async function withProgress<T>(
  what: string,
  work: (say: (detail: string) => void) => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  const started = clock.elapsed()
  let detail = ""
  const print = () => {
    const seconds = Math.round((clock.elapsed() - started) / 1000)
    process.stderr.write(`… ${what} (${seconds} s)${detail === "" ? "" : `: ${detail}`}\n`)
    timer = clock.after(againMs, print)
  }
  let timer = clock.after(firstMs, print)
  try {
    return await work((text) => (detail = text))
  } finally {
    timer.cancel()
  }
}
