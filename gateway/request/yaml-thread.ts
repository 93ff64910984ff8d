// A worker thread for YAML that is not JSON. Parsing and printing run at a few megabytes per second and cannot be interrupted, so long
// texts are converted here and delay only their senders and readers. The thread starts with the first such text and stops after an idle
// period.

import { Worker } from "node:worker_threads"
import { requestEntityTooLarge } from "../../apimachinery/status.ts"
import type { YamlOutcome } from "../../apimachinery/schema/yaml/convert.ts"

/** Shorter texts take no longer than other requests and are parsed and printed in the main thread. */
export const minThreadBytes = 8 * 1024
const defaultLimits = {
  /** An idle thread takes 27 MiB. */
  idleMs: 10_000,
  /** Heap of the thread. A text that needs more is refused as too long, and the thread is restarted. */
  maxHeapMiB: 512,
}
/** For objects of the maximum depth. */
const stackMiB = 16

type Outcome = YamlOutcome | Uint8Array

export interface YamlJob {
  /** JSON, if it is to be printed as YAML; otherwise YAML. */
  bytes: Uint8Array
  isPrinted: boolean
}

interface Job extends YamlJob {
  resolve: (outcome: Outcome) => void
  reject: (error: Error) => void
}

export class YamlThread {
  readonly #limits: { idleMs: number; maxHeapMiB: number }
  /** Limited by the requests in flight: each has one. The first job is being processed. */
  readonly #jobs: Job[] = []
  #worker: Worker | undefined
  #ending: NodeJS.Timeout | undefined

  constructor(limits = defaultLimits) {
    this.#limits = limits
  }

  get isRunning(): boolean {
    return this.#worker !== undefined
  }

  /** Converts texts one after the other. Rejects if the thread fails at this text. */
  async convert(bytes: Uint8Array): Promise<YamlOutcome> {
    return (await this.#run({ bytes, isPrinted: false })) as YamlOutcome
  }

  /** Prints JSON as YAML. Throws 413 if the thread has not enough memory. */
  async print(json: Uint8Array): Promise<Buffer> {
    const outcome = await this.#run({ bytes: json, isPrinted: true })
    if (!(outcome instanceof Uint8Array)) throw requestEntityTooLarge("the answer is too long for YAML")
    return Buffer.from(outcome.buffer, outcome.byteOffset, outcome.byteLength)
  }

  #run(job: YamlJob): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ ...job, resolve, reject })
      if (this.#jobs.length === 1) this.#begin()
    })
  }

  /** Starts the first job, or the idle timer. */
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
    // A copy, since the body may be part of a larger buffer; it is transferred to the thread.
    const own = Uint8Array.from(job.bytes)
    const message: YamlJob = { bytes: own, isPrinted: job.isPrinted }
    this.#worker.postMessage(message, [own.buffer])
  }

  #start(): Worker {
    const worker = new Worker(new URL("yaml-worker.ts", import.meta.url), {
      name: "yaml",
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.maxHeapMiB, stackSizeMb: stackMiB },
    })
    worker.on("message", (outcome: Outcome) => this.#done((job) => job.resolve(outcome)))
    worker.on("error", (error: NodeJS.ErrnoException) => {
      this.#worker = undefined
      const isTooLong = error.code === "ERR_WORKER_OUT_OF_MEMORY"
      this.#done((job) => (isTooLong ? job.resolve({ isTooLong }) : job.reject(error)))
    })
    return worker
  }

  #done(settle: (job: Job) => void): void {
    const job = this.#jobs.shift()
    if (job !== undefined) settle(job)
    this.#begin()
  }

  #end(): void {
    void this.#worker?.terminate()
    this.#worker = undefined
  }
}

/** One for the process: fairness is ensured where it is called. */
export const yamlThread = new YamlThread()
