// Those who wait until something happens, each as long as its signal lasts.

export class Waiters<T> {
  readonly #waiting = new Set<(what: T | undefined) => void>()

  get size(): number {
    return this.#waiting.size
  }

  /** Resolves with what {@link wake} is called with next; with undefined if the signal is aborted first. */
  next(until: AbortSignal): Promise<T | undefined> {
    if (until.aborted) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const wake = (what: T | undefined): void => {
        until.removeEventListener("abort", stop)
        this.#waiting.delete(wake)
        resolve(what)
      }
      const stop = (): void => wake(undefined)
      this.#waiting.add(wake)
      until.addEventListener("abort", stop, { once: true })
    })
  }

  wake(what: T | undefined): void {
    for (const each of this.#waiting) each(what)
  }
}
