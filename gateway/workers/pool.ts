// The worker processes of a primary: starts them, distributes client connections round robin, and replaces each worker that ends or
// hangs. A worker ends with its primary, however that ends: its pipe is then closed.

import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import type { Socket } from "node:net"
import { backoff } from "../../client/backoff.ts"
import { pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import { connectTenants } from "../../client/remote-tenants.ts"
import type { TenantAdmin } from "../../client/tenants.ts"
import { StartError } from "../start-error.ts"
import { CallFailed, Channel, ChannelClosed, type Handlers } from "./channel.ts"
import type { PrimaryCalls, WorkerCalls, WorkerSetup } from "./messages.ts"
import { stateOf, watchBeats } from "./heartbeat.ts"
import type { ProcessMetrics } from "./metrics.ts"
import { socketPath } from "./private-server.ts"
import type { Route } from "./routes.ts"

/** One worker, from when it is ready until it ends. */
export interface Worker {
  /** Unique as long as the primary runs. */
  readonly self: number
  /** Its place among the workers, from 1; a replacement has the place of its predecessor. */
  readonly place: number
  readonly channel: Channel<WorkerCalls, PrimaryCalls>
  /** Its tenants, over its private socket. */
  readonly tenants: TenantAdmin & AsyncDisposable
  readonly ended: AbortSignal
}

interface PoolParts {
  count: number
  spawn: () => ChildProcess
  setup: (self: number) => WorkerSetup
  /** The current routes of all tenants. */
  routes: () => Route[]
  /** Sent with requests to workers: the identity of this process. */
  headers: () => Readonly<Record<string, string>>
  handlers: Handlers<PrimaryCalls>
  maxConnections: number
  /** Time that workers have to shut down. */
  stopMs: number
  log: Log
}

interface Follower {
  ready(worker: Worker): void
  ended(worker: Worker): void
}

/** A worker that ran for this long did not fail at its start, so its replacement starts without a delay. */
const healthyMs = 30_000

export class WorkerPool implements AsyncDisposable {
  readonly #parts: PoolParts
  readonly #workers = new Map<number, Worker>()
  readonly #children = new Set<ChildProcess>()
  readonly #stopping = new AbortController()
  /** Connections accepted while there is no worker. */
  readonly #waiting = new Set<Socket>()
  #follower: Follower | undefined
  #running: Promise<void>[] = []
  #last = 0
  #turn = 0

  constructor(parts: PoolParts) {
    this.#parts = parts
  }

  /** The workers that are ready. */
  get workers(): Iterable<Worker> {
    return this.#workers.values()
  }

  /** Resolves when all are ready; rejects with StartError if one cannot start. */
  async start(follower: Follower): Promise<void> {
    this.#follower = follower
    const places = Array.from({ length: this.#parts.count }, (_, index) => index + 1)
    const started = await Promise.all(places.map((place) => this.#launch(place)))
    this.#running = started.map(({ worker, exited }) => this.#keep(worker.place, exited))
  }

  /** Round robin. If there is no worker, the connection is kept for the next one. */
  hand(socket: Socket): void {
    const workers = [...this.#workers.values()].filter(({ channel }) => channel.isOpen)
    const worker = workers[this.#turn++ % Math.max(1, workers.length)]
    if (worker !== undefined) worker.channel.hand(socket)
    else if (this.#waiting.size >= this.#parts.maxConnections || this.#stopping.signal.aborted) socket.destroy()
    else {
      this.#waiting.add(socket)
      socket.once("close", () => this.#waiting.delete(socket))
    }
  }

  /** Resolves when all live workers have responded. */
  async broadcast<K extends keyof WorkerCalls>(name: K, value: WorkerCalls[K][0]): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => ignoreClosed(worker.channel.call(name, value))))
  }

  async metrics(): Promise<ProcessMetrics[]> {
    const all = [...this.#workers.values()].map(async ({ channel, place }) => {
      const text = await ignoreClosed(channel.call("metrics", undefined))
      return text === undefined ? [] : [{ process: `worker-${place}`, text }]
    })
    return (await Promise.all(all)).flat()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    for (const socket of this.#waiting) socket.destroy()
    const late = setTimeout(() => this.#kill(), this.#parts.stopMs)
    // Ends the requests of this process, so that workers need not wait for them.
    await Promise.all([...this.#workers.values()].map(({ tenants }) => tenants[Symbol.asyncDispose]()))
    await this.broadcast("stop", undefined)
    await Promise.allSettled(this.#running)
    this.#kill() // workers that were still starting
    clearTimeout(late)
  }

  #kill(): void {
    for (const child of this.#children) child.kill("SIGKILL")
  }

  /** Runs workers one after the other in the same place until the pool is stopped. */
  async #keep(place: number, exited: Promise<unknown>): Promise<void> {
    const { signal } = this.#stopping
    let began = performance.now()
    let failures = 0
    for (let until = exited; ;) {
      await until
      if (signal.aborted) return
      failures = performance.now() - began > healthyMs ? 1 : failures + 1
      if (failures > 1) await pause(systemClock, backoff(failures), signal)
      if (signal.aborted) return
      began = performance.now()
      try {
        until = (await this.#launch(place)).exited
      } catch (error) {
        until = Promise.resolve()
        this.#parts.log.error({ err: error, worker: place, failures }, "a worker could not be started; retrying")
      }
    }
  }

  /** Kills a hung worker. Its tenants are taken over when it has exited, as always, so that there are never two owners. */
  async #watchOver(place: number, channel: Worker["channel"], child: ChildProcess): Promise<void> {
    const { pid } = child
    if (pid === undefined) return
    const gone = new AbortController()
    child.once("exit", () => gone.abort())
    await watchBeats({
      beat: () => channel.call("beat", undefined),
      look: () => stateOf(pid),
      hung: (why) => {
        this.#parts.log.error({ worker: place, why }, "a worker hangs and is ended")
        child.kill("SIGKILL")
      },
      signal: AbortSignal.any([gone.signal, this.#stopping.signal]),
    })
  }

  async #launch(place: number): Promise<{ worker: Worker; exited: Promise<unknown> }> {
    const { spawn, setup, routes, headers, handlers, log } = this.#parts
    const child = spawn()
    this.#children.add(child)
    const end = new AbortController()
    const exited = once(child, "exit").finally(() => this.#children.delete(child))
    exited.catch(() => undefined) // reported as a failed start of a worker
    const channel = new Channel<WorkerCalls, PrimaryCalls>(child, handlers)
    const set = setup(++this.#last)
    void this.#watchOver(place, channel, child)
    try {
      await channel.call("start", set)
      const path = socketPath(set.socketDirectory, set.self)
      const tenants = await connectTenants({ server: "http://worker", socketPath: path, headers, log })
      const worker: Worker = { self: set.self, place, channel, tenants, ended: end.signal }
      if (!channel.isOpen) throw new ChannelClosed()
      this.#workers.set(worker.self, worker)
      // From here on it receives changes like all ready workers, but first all current routes.
      const routed = ignoreClosed(channel.call("route", { set: routes(), gone: [] }))
      routed.catch((error: unknown) =>
        log.error({ err: error, worker: place }, "a worker does not know where tenants are"),
      )
      const finished = exited.then(async () => {
        this.#workers.delete(worker.self)
        end.abort()
        if (!this.#stopping.signal.aborted) {
          const { exitCode, signalCode } = child
          log.error({ worker: place, exitCode, signalCode }, "a worker has ended: the others take its tenants over")
          this.#follower?.ended(worker)
        }
        await tenants[Symbol.asyncDispose]()
      })
      this.#follower?.ready(worker)
      for (const socket of this.#waiting) {
        this.#waiting.delete(socket)
        channel.hand(socket)
      }
      return { worker, exited: finished }
    } catch (error) {
      child.kill("SIGKILL")
      throw startError(error)
    }
  }
}

function startError(error: unknown): Error {
  if (error instanceof CallFailed) return new StartError(error.message, { cause: error })
  if (error instanceof ChannelClosed) return new StartError("a worker ended before it was ready", { cause: error })
  return error instanceof Error ? error : new Error(String(error))
}

/** Resolves with undefined if the worker has ended meanwhile. */
export async function ignoreClosed<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ChannelClosed) return undefined
    throw error
  }
}
