// How long work has held the thread that all share. Of a busy machine's time only a part is this thread's.

export class ThreadTime {
  readonly #maxMs: number
  readonly #at = performance.now()
  readonly #worked = workedMs()

  /** From now on. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs
  }

  get isOver(): boolean {
    return performance.now() - this.#at > this.#maxMs && workedMs() - this.#worked > this.#maxMs
  }
}

/** Milliseconds this thread has been on a processor. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
