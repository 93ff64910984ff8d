// Serializes work per namespace, in order of arrival. Keeps no state for namespaces without waiting work.

export class NamespaceTurns {
  readonly #last = new Map<string, Promise<void>>()

  async take<T>(namespace: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(namespace) ?? Promise.resolve()
    const result = before.then(work)
    // The next one waits for the end of the work; only this caller gets its outcome.
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
