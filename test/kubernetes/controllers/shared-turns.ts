// Something that is done for all who ask for it, one turn after the other.

export class SharedTurns {
  readonly #act: () => Promise<void>
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(act: () => Promise<void>) {
    this.#act = act
  }

  /** A turn that begins after this call: one that has begun may not be late enough; the next one is for all who ask meanwhile. */
  take(): Promise<void> {
    const next = (): Promise<void> => {
      this.#next = undefined
      return (this.#running = this.#act())
    }
    return (this.#next ??= this.#running.then(next, next))
  }
}
