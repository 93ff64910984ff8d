// Where lines of logs go. What cannot be written, as on a full disk, is lost: it must neither end the process nor fill its memory.

import { closeSync, openSync, writeSync } from "node:fs"

const ownersOnly = 0o600

/** A full pipe whose other users do not want to wait: how long a line waits for its reader. Then it is lost. */
const pipePauseMs = 10
const maxPipePauses = 100

/** Each line is one write, so that several processes may append to the same file. */
export class LineFile {
  readonly #failed: (error: unknown) => void
  #fd: number
  /** The last line was written in part. */
  #isTorn = false

  /** `failed` is called for each line that is lost. */
  constructor(fd: number, failed: (error: unknown) => void) {
    this.#fd = fd
    this.#failed = failed
  }

  /** Throws the system's error if the file cannot be opened. */
  static open(file: string, failed: (error: unknown) => void): LineFile {
    return new LineFile(openSync(file, "a", ownersOnly), failed)
  }

  write(line: string): void {
    const bytes = Buffer.from(this.#isTorn ? `\n${line}` : line)
    let written = 0
    let pauses = 0
    while (written < bytes.length) {
      try {
        written += writeSync(this.#fd, bytes, written)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EAGAIN" && pauses++ < maxPipePauses) {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pipePauseMs)
          continue
        }
        this.#isTorn ||= written > 0
        this.#failed(error)
        return
      }
    }
    this.#isTorn = false
  }

  /** Continues in the file of this name, or in the open one if it cannot be opened. */
  reopen(file: string): void {
    try {
      const fd = openSync(file, "a", ownersOnly)
      closeSync(this.#fd)
      this.#fd = fd
      this.#isTorn = false
    } catch (error) {
      this.#failed(error)
    }
  }

  close(): void {
    closeSync(this.#fd)
  }
}
