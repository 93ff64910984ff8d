// Standard input of a simulated process: a queue of chunks with a limit.

/** Maximum number of unread characters. Further input is refused. */
const maxWaiting = 16 * 1024 * 1024

export class Input {
  readonly #decoder = new TextDecoder()
  readonly #waiting: string[] = []
  #characters = 0
  #closed = false
  #wake: (() => void) | undefined

  /** Standard input that is closed. */
  static empty(): Input {
    const input = new Input()
    input.close()
    return input
  }

  /** Returns false if too much is unread; the writer should give up. */
  push(chunk: Uint8Array | string): boolean {
    if (this.#closed) return true // the reader has gone; like a closed pipe whose errors the writer ignores
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

  /** The next chunk; undefined at the end, or when the signal ends. Only one reader at a time. */
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
