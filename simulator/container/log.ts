// What a container has written: the last lines within a bound, and whoever follows them.

export type LogStream = "stdout" | "stderr"

export interface LogLine {
  /** Milliseconds since the epoch. */
  at: number
  stream: LogStream
  /** Without the line's end. */
  text: string
}

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
    const pieces = (this.#partial[stream] + text).split("\n")
    this.#partial[stream] = pieces.pop() ?? ""
    for (const piece of pieces) this.#append({ at: Date.now(), stream, text: piece })
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
