// Reports progress of operations that take longer than a second, every few seconds on standard error.

const firstMs = 1_000
const againMs = 5_000

/** Runs `work`; while it takes long, prints `what` with the elapsed seconds. */
export async function withProgress<T>(what: string, work: (say: (detail: string) => void) => Promise<T>): Promise<T> {
  const started = performance.now()
  let detail = ""
  const print = () => {
    const seconds = Math.round((performance.now() - started) / 1000)
    process.stderr.write(`… ${what} (${seconds} s)${detail === "" ? "" : `: ${detail}`}\n`)
    timer = setTimeout(print, againMs)
  }
  let timer = setTimeout(print, firstMs)
  try {
    return await work((text) => (detail = text))
  } finally {
    clearTimeout(timer)
  }
}
