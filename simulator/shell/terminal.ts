// A terminal's line discipline: echoes input, edits the line, and interprets ^C and ^D. Programs read complete lines. Output gets
// the carriage returns that a terminal in raw mode needs.

import type { Input } from "../container/input.ts"

const escapeSequence = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z~]`, "g")
const interrupt = "\x03"
const endOfInput = "\x04"
const killLine = "\x15"
const backspaces = new Set(["\x7f", "\b"])
/** Maximum number of characters per line; further ones are ignored, as with a tty's full buffer. */
const maxLine = 4096
/** Maximum number of lines typed ahead. */
const maxLines = 1000

export class Terminal {
  readonly #write: (text: string) => void
  readonly #lines: string[] = []
  #line = ""
  #ends = 0
  #closed = false
  #wake: (() => void) | undefined
  /** Called for ^C. */
  onInterrupt: (() => void) | undefined

  /** Reads `input` until it or the signal ends. */
  constructor(input: Input, write: (text: string) => void, signal: AbortSignal) {
    this.#write = write
    void this.#pump(input, signal).finally(() => {
      this.#closed = true
      this.#wake?.()
    })
  }

  /** The next line without its end; undefined at ^D, or when the client has disconnected. */
  async readLine(): Promise<string | undefined> {
    for (;;) {
      const line = this.#lines.shift()
      if (line !== undefined) return line
      if (this.#ends > 0) {
        this.#ends--
        return undefined
      }
      if (this.#closed) return undefined
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async readAll(): Promise<string> {
    let text = ""
    for (let line = await this.readLine(); line !== undefined; line = await this.readLine()) text += `${line}\n`
    return text
  }

  async #pump(input: Input, signal: AbortSignal): Promise<void> {
    for (let chunk = await input.next(signal); chunk !== undefined; chunk = await input.next(signal)) {
      // Arrow keys and the like are not supported.
      for (const character of chunk.replaceAll(escapeSequence, "")) this.#type(character)
    }
  }

  #type(character: string): void {
    if (character === "\r" || character === "\n") {
      this.#write("\n")
      this.#deliver()
    } else if (character === interrupt) {
      this.#write("^C\n")
      this.#line = ""
      this.onInterrupt?.()
    } else if (character === endOfInput) {
      if (this.#line !== "") return
      this.#ends++
      this.#wake?.()
    } else if (backspaces.has(character)) {
      if (this.#line === "") return
      this.#line = Array.from(this.#line).slice(0, -1).join("")
      this.#write("\b \b")
    } else if (character === killLine) {
      this.#write("\b \b".repeat(Array.from(this.#line).length))
      this.#line = ""
    } else if (character >= " " && this.#line.length < maxLine) {
      this.#line += character
      this.#write(character)
    }
  }

  #deliver(): void {
    if (this.#lines.length < maxLines) this.#lines.push(this.#line)
    this.#line = ""
    this.#wake?.()
  }
}

/** Converts output like a terminal driver. */
export function withCarriageReturns(text: string): string {
  return text.replaceAll(/\r?\n/g, "\r\n")
}
