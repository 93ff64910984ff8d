// The worker processes of a primary: starts them, hands clients' connections to them in turn, and starts another one in the
// place of each that ends or hangs. A worker ends with its primary, whatever way that ends: its pipe is then closed.

import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import type { Socket } from "node:net"
import { pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import { backoff } from "../../client/reflector.ts"
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
  /** Unique for as long as the primary runs. */
  readonly self: number
  /** Its place among the workers, from 1: one that follows another has the same. */
  readonly place: number
  readonly channel: Channel<WorkerCalls, PrimaryCalls>
  /** What it has, over its private socket. */
  readonly tenants: TenantAdmin & AsyncDisposable
  readonly ended: AbortSignal
}

export interface PoolParts {
  count: number
  spawn: () => ChildProcess
  setup: (self: number) => WorkerSetup
  /** Where all tenants are at the moment. */
  routes: () => Route[]
  /** Sent with requests to workers: this process' own identity. */
  headers: () => Readonly<Record<string, string>>
  handlers: Handlers<PrimaryCalls>
  maxConnections: number
  /** Workers get so long to end when asked. */
  stopMs: number
  log: Log
}

interface Follower {
  ready(worker: Worker): void
  ended(worker: Worker): void
}

/** A worker that lived so long has not failed at its start: the next one need not wait. */
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

  /** Those that are ready. */
  get workers(): Iterable<Worker> {
    return this.#workers.values()
  }

  /** Resolves when all are ready; fails with StartError when one cannot be. */
  async start(follower: Follower): Promise<void> {
    this.#follower = follower
    const places = Array.from({ length: this.#parts.count }, (_, index) => index + 1)
    const started = await Promise.all(places.map((place) => this.#launch(place)))
    this.#running = started.map(({ worker, exited }) => this.#keep(worker.place, exited))
  }

  /** In turn. Kept for the next worker when there is none. */
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

  /** Resolves when all that live have answered. */
  async tellAll<K extends keyof WorkerCalls>(name: K, value: WorkerCalls[K][0]): Promise<void> {
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
    // Nobody asks any more, so that there is nothing workers would have to wait for.
    await Promise.all([...this.#workers.values()].map(({ tenants }) => tenants[Symbol.asyncDispose]()))
    await this.tellAll("stop", undefined)
    await Promise.allSettled(this.#running)
    this.#kill() // those that were just starting
    clearTimeout(late)
  }

  #kill(): void {
    for (const child of this.#children) child.kill("SIGKILL")
  }

  /** One after the other in the same place, until the pool ends. */
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
        this.#parts.log.error({ err: error, worker: place, failures }, "a worker could not be started, trying again")
      }
    }
  }

  /** One that hangs is ended: what it had is taken over when it is gone, as always, so that no two ever have it. */
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
    exited.catch(() => undefined) // told as a worker that could not be started
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
      // From here on it is told what moves, as all that are ready; first of all where everything is now.
      const told = ignoreClosed(channel.call("route", { set: routes(), gone: [] }))
      told.catch((error: unknown) =>
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

/** Who has ended meanwhile has nothing to say. */
export async function ignoreClosed<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ChannelClosed) return undefined
    throw error
  }
}
