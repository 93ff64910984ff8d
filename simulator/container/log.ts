// What a container has written: the last lines within a bound, and whoever follows them.

export type LogStream = "stdout" | "stderr"

export interface LogLine {
  /** Milliseconds since the epoch. */
  at: number
  stream: LogStream
  /** Without the line's end. */
  text: string
  /** It goes on in the next one of its stream. */
  isPartial?: boolean
}

/** Characters of a line; what is longer is kept in parts, as container runtimes do. */
const maxLine = 16 * 1024
/** The oldest lines are dropped beyond these, as a rotated log's are. */
const maxLines = 10_000
const maxBytes = 1024 * 1024

export class ContainerLog {
  #lines: LogLine[] = []
  #bytes = 0
  readonly #followers = new Set<(line: LogLine | undefined) => void>()
  readonly #partial = { stdout: "", stderr: "" }
  readonly #watchers = new Set<(stream: LogStream, text: string) => void>()
  #ended = false

  /** Text as it was written; lines are completed across calls. */
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

  /** The container ended: what is left becomes a line, and followers are told (undefined). */
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

  /** Returns how to stop. Not called for lines that are there already. */
  follow(follower: (line: LogLine | undefined) => void): () => void {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }

  /** What is written from now on, as it is written: for attach. Returns how to stop. */
  watch(watcher: (stream: LogStream, text: string) => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** The line that has not ended yet. */
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
      const keep = this.#lines.slice(Math.ceil(this.#lines.length / 10)) // a tenth at a time: no shifting per line
      this.#lines = keep
      this.#bytes = keep.reduce((sum, { text }) => sum + text.length, 0)
    }
    for (const follower of this.#followers) follower(line)
  }
}
