// Measures how long work has occupied the shared thread. On a busy machine only part of the elapsed time is this thread's.

export class ThreadTime {
  readonly #maxMs: number
  readonly #at = performance.now()
  readonly #worked = workedMs()

  /** Starts now. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs
  }

  get isOver(): boolean {
    return performance.now() - this.#at > this.#maxMs && workedMs() - this.#worked > this.#maxMs
  }
}

/** Processor time of this thread in milliseconds. */
export function workedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
