// A program of a real cluster: its output goes to a file, start() waits until it responds, and it ends with its parent.

import { once } from "node:events"
import { open, readFile } from "node:fs/promises"
import type { ChildProcess } from "node:child_process"
import { setTimeout as delay } from "node:timers/promises"
import { start } from "../../harness/processes.ts"

interface ComponentOptions {
  name: string
  program: string
  args: readonly string[]
  logFile: string
  env?: NodeJS.ProcessEnv
  /** Timeout for becoming ready. */
  readyTimeoutMs?: number
}

/** A busy machine has needed more than a minute. */
const defaultReadyTimeoutMs = 120_000
const pollMs = 50
/** The part of a log file that the error of a failed start contains. */
const quotedLines = 15
const maxQuotedCharacters = 6000

export class Component implements AsyncDisposable {
  readonly name: string
  readonly #options: ComponentOptions
  readonly #child: ChildProcess
  #ended: string | undefined
  #disposed = false

  private constructor(options: ComponentOptions, child: ChildProcess) {
    this.name = options.name
    this.#options = options
    this.#child = child
    child.once("error", (error) => (this.#ended = error.message))
    child.once("close", (code, signal) => (this.#ended ??= `ended with ${signal ?? code}`))
  }

  static async start(options: ComponentOptions): Promise<Component> {
    const { program, args, env = process.env } = options
    const log = await open(options.logFile, "a")
    try {
      return new Component(options, start(program, args, { env, stdio: ["ignore", log.fd, log.fd] }))
    } finally {
      await log.close()
    }
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Why it has ended; undefined while it runs. */
  get ended(): string | undefined {
    return this.#ended
  }

  /** Repeats until the condition holds. Its exceptions count as "not yet"; the end of the process is an error. */
  async ready(condition: () => Promise<boolean>): Promise<void> {
    const { readyTimeoutMs = defaultReadyTimeoutMs } = this.#options
    const deadline = performance.now() + readyTimeoutMs
    let failure: unknown
    for (;;) {
      if (this.#ended !== undefined) throw await this.#failure(this.#ended, failure)
      try {
        if (await condition()) return
      } catch (error) {
        failure = error
      }
      if (performance.now() > deadline) throw await this.#failure(`not ready in ${readyTimeoutMs} ms`, failure)
      await delay(pollMs)
    }
  }

  async #failure(what: string, cause: unknown): Promise<Error> {
    const lines = (await readFile(this.#options.logFile, "utf8")).trimEnd().split("\n")
    const end = lines.slice(-quotedLines).join("\n").slice(-maxQuotedCharacters)
    return new Error(`${this.name}: ${what}; the end of its log:\n${end}`, { cause })
  }

  /** Whether it has ended by itself. */
  get hasFailed(): boolean {
    return this.#ended !== undefined && !this.#disposed
  }

  /** SIGSTOP and SIGCONT are for tests of a component that does not respond; SIGKILL ends it. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Kills the process: none of its data is needed any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child
    if (this.#ended === undefined) this.#disposed = true
    if (this.#ended !== undefined || child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, "close")
    child.kill("SIGKILL")
    await closed
  }
}
