// The output of a container: the last lines within a limit, and the followers of the log.

type LogStream = "stdout" | "stderr"

export interface LogLine {
  /** Milliseconds since the epoch. */
  at: number
  stream: LogStream
  /** Without the line break. */
  text: string
  /** The next line of the stream continues it. */
  isPartial?: boolean
}

/** Maximum number of characters per line; longer lines are split, as by container runtimes. */
const maxLine = 16 * 1024
/** When these are exceeded, the oldest lines are dropped, as in a rotated log. */
const maxLines = 10_000
const maxBytes = 1024 * 1024

export class ContainerLog {
  #lines: LogLine[] = []
  #bytes = 0
  readonly #followers = new Set<(line: LogLine | undefined) => void>()
  readonly #partial = { stdout: "", stderr: "" }
  readonly #watchers = new Set<(stream: LogStream, text: string) => void>()
  #ended = false

  /** Appends output; a line may be written by several calls. */
  write(stream: LogStream, text: string): void {
    for (const watcher of this.#watchers) watcher(stream, text)
    const [first = "", ...more] = text.split("\n")
    this.#extend(stream, first)
    for (const piece of more) {
      this.#append({ at: Date.now(), stream, text: this.#partial[stream] })
      this.#partial[stream] = ""
      this.#extend(stream, piece)
    }
  }

  /** The container has ended: completes the last line, and calls followers with undefined. */
  end(): void {
    for (const stream of ["stdout", "stderr"] as const)
      if (this.#partial[stream] !== "") this.#append({ at: Date.now(), stream, text: this.#partial[stream] })
    this.#ended = true
    for (const follower of this.#followers) follower(undefined)
    this.#followers.clear()
  }

  get ended(): boolean {
    return this.#ended
  }

  get lines(): readonly LogLine[] {
    return this.#lines
  }

  /** Calls the follower for new lines only. Returns a function that removes it. */
  follow(follower: (line: LogLine | undefined) => void): () => void {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }

  /** Calls the watcher for new output as it is written, for attach. Returns a function that removes it. */
  watch(watcher: (stream: LogStream, text: string) => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Appends to the incomplete line. */
  #extend(stream: LogStream, text: string): void {
    const whole = this.#partial[stream] + text
    let start = 0
    for (; whole.length - start > maxLine; start += maxLine)
      this.#append({ at: Date.now(), stream, text: whole.slice(start, start + maxLine), isPartial: true })
    this.#partial[stream] = whole.slice(start)
  }

  #append(line: LogLine): void {
    this.#lines.push(line)
    this.#bytes += line.text.length
    if (this.#lines.length > maxLines || this.#bytes > maxBytes) {
      const keep = this.#lines.slice(Math.ceil(this.#lines.length / 10)) // a tenth at once: no shifting per line
      this.#lines = keep
      this.#bytes = keep.reduce((sum, { text }) => sum + text.length, 0)
    }
    for (const follower of this.#followers) follower(line)
  }
}
