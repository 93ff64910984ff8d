// One at a time for each namespace, in the order of asking. Holds nothing for a namespace nobody waits in.

export class NamespaceTurns {
  readonly #last = new Map<string, Promise<void>>()

  async take<T>(namespace: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(namespace) ?? Promise.resolve()
    const result = before.then(work)
    // The next one waits for the end, not for the outcome, which is this caller's.
    const done = result.then(
      () => undefined,
      () => undefined,
    )
    this.#last.set(namespace, done)
    try {
      return await result
    } finally {
      if (this.#last.get(namespace) === done) this.#last.delete(namespace)
    }
  }
}
