// A lock that one of several processes can hold: a key bound to an etcd lease, which is kept alive while the process lives and
// expires some seconds after its end.

import { randomInt } from "node:crypto"
import { setTimeout as delay } from "node:timers/promises"
import type { EtcdClient } from "./client.ts"
import { leaseKey } from "./keys.ts"

interface LeaseOptions {
  client: EtcdClient
  prefix: string
  /** Name of the lock. */
  name: string
  /** The holder, for messages. */
  holder: string
  /** Time after the holder's end until the name is free. */
  ttlSeconds: number
  /** How long to wait if another process holds the lock. */
  waitMs: number
}

/** All attempts to return a lease: a process that stops should not wait for an etcd that does not respond. */
const revokeMs = 1_000

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

  /** Throws HeldError, which names the holder. */
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
        // Also held by this process if the response to an earlier attempt was lost.
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

  /** Aborted when another process may hold the lock. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await this.#running
    const { client } = this.#options
    // Otherwise it expires by itself.
    await client.call(client.calls.leaseRevoke, { ID: this.#id }, "once", revokeMs).catch(() => undefined)
  }

  /**
   * The lease may expire one TTL after the last successful renewal was sent: etcd starts counting then at the earliest. After that
   * another process may hold the lock, whatever the cause of the failure.
   */
  async #keepAlive(asked: number): Promise<void> {
    const ttlMs = this.#options.ttlSeconds * 1000
    const { signal } = this.#ending
    let good = asked
    const leftMs = (): number => Math.max(0, good + ttlMs - performance.now())
    while (!signal.aborted) {
      // If aborted, the loop ends.
      await delay(Math.min(ttlMs / 5, leftMs()), undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      const began = performance.now()
      const seconds = await this.#renew(Math.min(ttlMs / 5, leftMs())).catch(() => undefined) // retried until the lease expires
      if (seconds !== undefined && seconds > 0) good = began
      if (seconds !== 0 && leftMs() > 0) continue
      this.#lost.abort()
      return
    }
  }

  /** Returns the remaining seconds; 0 if the lease has expired. */
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
