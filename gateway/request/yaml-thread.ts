// YAML that is no JSON is parsed at some megabytes per second, and the parser cannot pause: long texts are converted in a thread of
// their own, so that nobody waits but who sent them. It begins with the first such text and ends when none has come for a while.

import { Worker } from "node:worker_threads"
import type { YamlOutcome } from "../../apimachinery/schema/yaml/convert.ts"

/** Shorter ones take no longer than other requests do. */
export const minAsideBytes = 8 * 1024
const defaultLimits = {
  /** A thread without work takes 27 MiB. */
  idleMs: 10_000,
  /** Of the thread's objects. A text that needs more is refused as too long, and the thread begins anew. */
  maxHeapMiB: 512,
}

interface Job {
  bytes: Uint8Array
  resolve: (outcome: YamlOutcome) => void
  reject: (error: Error) => void
}

export class YamlThread {
  readonly #limits: { idleMs: number; maxHeapMiB: number }
  /** Bounded by the requests in flight: each has one. The first is being worked on. */
  readonly #jobs: Job[] = []
  #worker: Worker | undefined
  #ending: NodeJS.Timeout | undefined

  constructor(limits = defaultLimits) {
    this.#limits = limits
  }

  get isRunning(): boolean {
    return this.#worker !== undefined
  }

  /** One text after the other. Rejects when the thread fails at this one. */
  convert(bytes: Uint8Array): Promise<YamlOutcome> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ bytes, resolve, reject })
      if (this.#jobs.length === 1) this.#begin()
    })
  }

  /** With the first job, or to rest. */
  #begin(): void {
    const [job] = this.#jobs
    clearTimeout(this.#ending)
    if (job === undefined) {
      this.#worker?.unref()
      this.#ending = setTimeout(() => this.#end(), this.#limits.idleMs).unref()
      return
    }
    this.#worker ??= this.#start()
    this.#worker.ref()
    // A copy of its own, since the body may lie in a larger buffer; it moves to the thread.
    const own = Uint8Array.from(job.bytes)
    this.#worker.postMessage(own, [own.buffer])
  }

  #start(): Worker {
    const worker = new Worker(new URL("yaml-worker.ts", import.meta.url), {
      name: "yaml",
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.maxHeapMiB },
    })
    worker.on("message", (outcome: YamlOutcome) => this.#done((job) => job.resolve(outcome)))
    worker.on("error", (error: NodeJS.ErrnoException) => {
      this.#worker = undefined
      const isTooLong = error.code === "ERR_WORKER_OUT_OF_MEMORY"
      this.#done((job) => (isTooLong ? job.resolve({ isTooLong }) : job.reject(error)))
    })
    return worker
  }

  #done(tell: (job: Job) => void): void {
    const job = this.#jobs.shift()
    if (job !== undefined) tell(job)
    this.#begin()
  }

  #end(): void {
    void this.#worker?.terminate()
    this.#worker = undefined
  }
}
