// Ends a watch with its signal, or when its reader wants no more of it, whatever its current step waits for: storage that does not
// answer, the webhook of a conversion.

type Step<T> = IteratorResult<T, undefined>

const over = { done: true, value: undefined } as const

/** The steps of a generator, for a single reader. */
export class UntilAborted<T> implements AsyncIterableIterator<T, undefined> {
  readonly #steps: AsyncGenerator<T, undefined | void>
  readonly #signal: AbortSignal
  readonly #end = (): void => this.#finish()
  #isOver = false
  #waiter: PromiseWithResolvers<Step<T>> | undefined

  constructor(steps: AsyncGenerator<T, undefined | void>, signal: AbortSignal) {
    this.#steps = steps
    this.#signal = signal
    signal.addEventListener("abort", this.#end, { once: true })
    if (signal.aborted) this.#finish()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Step<T>> {
    return this.#step(() => this.#steps.next())
  }

  /** What the steps hold has been given back when it resolves, unless the signal has ended them, or a step is pending. */
  return(): Promise<Step<T>> {
    if (this.#waiter !== undefined) this.#finish()
    return this.#step(() => this.#steps.return(undefined))
  }

  #step(take: () => Promise<IteratorResult<T, undefined | void>>): Promise<Step<T>> {
    if (this.#isOver) return Promise.resolve(over)
    const waiter = Promise.withResolvers<Step<T>>()
    this.#waiter = waiter
    take().then(
      (step) => {
        this.#waiter = undefined
        if (step.done === true) this.#finish()
        waiter.resolve(step as Step<T>)
      },
      (error: unknown) => {
        this.#waiter = undefined
        this.#finish()
        waiter.reject(error)
      },
    )
    return waiter.promise
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#signal.removeEventListener("abort", this.#end)
    // It takes effect after the current step, which is not waited for.
    this.#steps.return(undefined).catch(() => undefined) // nobody reads its steps any more
    this.#waiter?.resolve(over)
  }
}
