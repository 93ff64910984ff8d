// The loop of each part of the simulated super cluster: names of namespaced objects in a queue, and the workers that reconcile them.

import type { KubeObject } from "../apimachinery/object.ts"
import type { Log } from "../client/log.ts"
import { FairQueue } from "../client/workqueue/fair-queue.ts"
import { runWorkers, type ReconcileResult } from "../client/workqueue/workers.ts"

export interface ObjectKey {
  namespace: string
  name: string
}

export const identify = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`

export const keyOf = ({ metadata: { namespace = "", name = "" } }: KubeObject): ObjectKey => ({ namespace, name })

interface ControlLoopOptions {
  name: string
  /** Number of objects reconciled at the same time. */
  workers: number
  reconcile: (key: ObjectKey) => Promise<ReconcileResult>
  log: Log
}

export class ControlLoop implements AsyncDisposable {
  readonly #queue = new FairQueue<ObjectKey>({ identify, group: ({ namespace }) => namespace })
  readonly #stopped = new AbortController()
  readonly #sources = new DisposableStack()
  readonly #running: Promise<void>

  constructor(options: ControlLoopOptions) {
    this.#running = runWorkers({ ...options, queue: this.#queue, signal: this.#stopped.signal })
  }

  add(key: ObjectKey): void {
    this.#queue.add(key)
  }

  /** Ends these sources of keys before it ends itself. */
  endFirst(...unsubscribe: readonly (() => void)[]): void {
    for (const each of unsubscribe) this.#sources.defer(each)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sources.dispose()
    this.#stopped.abort()
    await this.#running
    this.#queue[Symbol.dispose]()
  }
}
