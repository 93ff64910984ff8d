// One of several processes at a time: a name that is held by a key bound to a lease of etcd, which is kept alive as long as
// the process lives and ends some seconds after it.

import { randomInt } from "node:crypto"
import { setTimeout as delay } from "node:timers/promises"
import type { EtcdClient } from "./client.ts"
import { leaseKey } from "./keys.ts"

export interface LeaseOptions {
  client: EtcdClient
  prefix: string
  /** What is held. */
  name: string
  /** Who holds it, for people. */
  holder: string
  /** After the holder's end the name is free. */
  ttlSeconds: number
  /** How long it is waited for when another holds it. */
  waitMs: number
}

export class HeldError extends Error {
  override readonly name = "HeldError"
  readonly holder: string

  constructor(name: string, holder: string) {
    super(`"${name}" is held by ${holder}`)
    this.holder = holder
  }
}

export class EtcdLease implements AsyncDisposable {
  readonly #options: LeaseOptions
  readonly #id: number
  readonly #ending = new AbortController()
  readonly #lost = new AbortController()
  readonly #running: Promise<void>

  /** Fails with HeldError, which names the holder. */
  static async hold(options: LeaseOptions): Promise<EtcdLease> {
    const { client, prefix, name, holder, ttlSeconds, waitMs } = options
    const deadline = performance.now() + waitMs
    const id = randomInt(1, 2 ** 47)
    const asked = performance.now()
    await client.call(client.calls.leaseGrant, { TTL: ttlSeconds, ID: id }, "once")
    const lease = new EtcdLease(options, id, asked)
    const key = leaseKey(prefix, name)
    try {
      for (;;) {
        const { response } = await client.call(
          client.calls.txn,
          {
            compare: [{ result: 0, target: 2, key, mod_revision: 0 }],
            success: [{ request_put: { key, value: Buffer.from(holder), lease: id } }],
            failure: [{ request_range: { key } }],
          },
          "again",
        )
        const present = response.responses[0]?.response_range?.kvs[0]?.value.toString()
        // Its own, when the answer to an attempt was lost.
        if (response.succeeded || present === holder) return lease
        if (performance.now() > deadline) throw new HeldError(name, present ?? "nobody")
        await delay(Math.min(1_000, waitMs / 10))
      }
    } catch (error) {
      await lease[Symbol.asyncDispose]()
      throw error
    }
  }

  private constructor(options: LeaseOptions, id: number, asked: number) {
    this.#options = options
    this.#id = id
    this.#running = this.#keepAlive(asked)
  }

  /** Ends when another may hold the name. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await this.#running
    const { client } = this.#options
    // Otherwise it ends by itself.
    await client.call(client.calls.leaseRevoke, { ID: this.#id }, "once").catch(() => undefined)
  }

  /** etcd counts from when it was asked at the earliest: once that is too long ago, another may hold the name, whoever is to blame. */
  async #keepAlive(asked: number): Promise<void> {
    const ttlMs = this.#options.ttlSeconds * 1000
    const { signal } = this.#ending
    let good = asked
    const leftMs = (): number => Math.max(0, good + ttlMs - performance.now())
    while (!signal.aborted) {
      // Aborted: the loop ends.
      await delay(Math.min(ttlMs / 5, leftMs()), undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      const began = performance.now()
      const seconds = await this.#renew(Math.min(ttlMs / 5, leftMs())).catch(() => undefined) // tried again until it is too late
      if (seconds !== undefined && seconds > 0) good = began
      if (seconds !== 0 && leftMs() > 0) continue
      this.#lost.abort()
      return
    }
  }

  /** Seconds it has from now on; 0: it is gone. */
  #renew(timeoutMs: number): Promise<number> {
    const { client } = this.#options
    const { stream, abandon } = client.stream(client.calls.leaseKeepAlive)
    const done = Promise.withResolvers<number>()
    const timer = setTimeout(() => done.reject(new Error("no answer in time")), timeoutMs)
    stream.on("data", ({ TTL }: { TTL: number }) => done.resolve(TTL))
    stream.on("error", (error) => {
      done.reject(error)
    })
    stream.on("end", () => done.reject(new Error("the stream ended")))
    stream.write({ ID: this.#id })
    return done.promise
      .catch((error: unknown) => {
        abandon()
        throw error
      })
      .finally(() => {
        clearTimeout(timer)
        stream.cancel()
      })
  }
}
