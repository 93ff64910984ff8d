// Standard input of a simulated process: chunks as they come, with a limit on what waits to be read.

/** Characters not yet read. Beyond it the writer is refused. */
const maxWaiting = 16 * 1024 * 1024

export class Input {
  readonly #decoder = new TextDecoder()
  readonly #waiting: string[] = []
  #characters = 0
  #closed = false
  #wake: (() => void) | undefined

  /** What nobody writes to. */
  static empty(): Input {
    const input = new Input()
    input.close()
    return input
  }

  get closed(): boolean {
    return this.#closed
  }

  /** False: too much waits already; the writer should give up. */
  push(chunk: Uint8Array | string): boolean {
    if (this.#closed) return true // nobody reads any more, as with a closed pipe whose writer ignores it
    const text = typeof chunk === "string" ? chunk : this.#decoder.decode(chunk, { stream: true })
    if (this.#characters + text.length > maxWaiting) return false
    if (text === "") return true
    this.#waiting.push(text)
    this.#characters += text.length
    this.#wake?.()
    return true
  }

  close(): void {
    this.#closed = true
    this.#wake?.()
  }

  /** The next chunk; undefined at the end, or when the signal ends. One reader at a time. */
  async next(signal: AbortSignal): Promise<string | undefined> {
    while (!signal.aborted) {
      const chunk = this.#waiting.shift()
      if (chunk !== undefined) {
        this.#characters -= chunk.length
        return chunk
      }
      if (this.#closed) return undefined
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#wake = undefined
          signal.removeEventListener("abort", wake)
          resolve()
        }
        this.#wake = wake
        signal.addEventListener("abort", wake, { once: true })
      })
    }
    return undefined
  }

  async all(signal: AbortSignal): Promise<string> {
    let text = ""
    for (let chunk = await this.next(signal); chunk !== undefined; chunk = await this.next(signal)) text += chunk
    return text
  }
}
