// Processes of a Polyplane with several of them are killed: a client notices it for no more than a moment. Acknowledged writes are
// preserved, watches continue, and no process remains when the first one is killed.

import { setTimeout as delay } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { ConfigMap } from "../../apimachinery/object.ts"
import { createHttpClient } from "../../client/http/client.ts"
import { Informer } from "../../client/informers/informer.ts"
import { loadKubeconfig } from "../../client/credentials/kubeconfig.ts"
import { configMaps } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { eventually } from "../harness/eventually.ts"
import { polyplane } from "../harness/polyplane.ts"
import {
  children,
  heldByWorkers,
  patience,
  settings,
  sumOf,
  tenants,
  up,
  useWorkers,
  workers,
} from "../harness/workers.ts"

/** Delay of a client after a failed request. */
const pauseMs = 20
/** The initial workers. */
let firstWorkers: number[]
const stack = new AsyncDisposableStack()

useWorkers()

beforeAll(async () => {
  firstWorkers = await children(up.pid)
  await up.kubectl(["create", "deployment", "web", "--image=nginx", "--replicas=2"], { kubeconfig: "team-0" })
})

afterAll(() => stack.disposeAsync())

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function clientOf(tenant: string): Promise<KubeClient> {
  return stack.use(createHttpClient(await loadKubeconfig(await up.readKubeconfig(tenant))))
}

describe("a killed worker", () => {
  /** Writes until the signal is aborted and collects acknowledged writes. Clients must expect failures. */
  async function write(tenant: string, acknowledged: string[], signal: AbortSignal): Promise<void> {
    const client = await clientOf(tenant)
    for (let count = 0; !signal.aborted; count++) {
      const name = `written-${count}`
      try {
        await client.create(configMaps, settings(name))
        acknowledged.push(name)
      } catch {
        // Not acknowledged: the object may or may not exist.
        await delay(pauseMs)
      }
    }
  }

  async function lossless(victim: number, deed: NodeJS.Signals, signal: AbortSignal): Promise<void> {
    const writing = new AbortController()
    const stop = AbortSignal.any([signal, writing.signal])
    const writers = await Promise.all(
      tenants.slice(0, 6).map(async (tenant) => {
        const informer = new Informer<ConfigMap>(await clientOf(tenant), configMaps, { namespace: "default" })
        await informer.start(signal)
        const acknowledged: string[] = []
        return { tenant, informer, acknowledged, done: write(tenant, acknowledged, stop) }
      }),
    )
    await eventually(() => writers.every(({ acknowledged }) => acknowledged.length >= 5), patience)
    process.kill(victim, deed)
    const before = writers.map(({ acknowledged }) => acknowledged.length)
    await eventually(() => writers.every(({ acknowledged }, index) => acknowledged.length >= before[index]! + 5), {
      ...patience,
      what: `writes to every tenant after the worker got ${deed}`,
    })
    writing.abort()
    for (const { tenant, informer, acknowledged, done } of writers) {
      await done
      const client = await clientOf(tenant)
      const { items } = await client.list<ConfigMap>(configMaps, { namespace: "default" })
      const there = items.map(({ metadata }) => metadata.name)
      expect(there).toEqual(expect.arrayContaining(acknowledged))
      await eventually(() => informer.size === items.length, {
        ...patience,
        what: `the ${items.length} that ${tenant} has, by watch`,
      })
      expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(there))
    }
  }

  test.each([
    ["loses no acknowledged writes, and watches continue without gaps", "SIGKILL"],
    // A stopped process could continue at any moment, so it is killed before other workers take over its tenants.
    ["that hangs has exited before others take over its tenants, and loses nothing", "SIGSTOP"],
  ] as const)("%s", { timeout: 180_000 }, async (_, deed) => {
    await eventually(async () => (await children(up.pid)).length === workers, patience)
    // A worker that replaced another one may have no tenants yet, so killing it would prove nothing.
    const victim = firstWorkers.find(isAlive)
    if (victim === undefined) throw new Error("there are no workers")
    const stopping = new AbortController()
    try {
      await lossless(victim, deed, stopping.signal)
    } finally {
      stopping.abort()
    }
    expect(isAlive(victim)).toBe(false)
  })

  test("is also replaced if it is stopped while it starts", { timeout: 180_000 }, async () => {
    await eventually(async () => (await children(up.pid)).length === workers, patience)
    const before = await children(up.pid)
    const [victim = 0] = before
    process.kill(victim, "SIGKILL")
    let next: number | undefined
    await eventually(async () => {
      next = (await children(up.pid)).find((pid) => !before.includes(pid))
      return next !== undefined
    }, patience)
    if (next === undefined) throw new Error("nothing was started")
    const starting = next
    process.kill(starting, "SIGSTOP")
    await eventually(() => !isAlive(starting), { ...patience, what: "the stopped one to be gone" })
    await eventually(async () => (await children(up.pid)).length === workers, patience)
  })

  test("is replaced, and all tenants are available", async () => {
    await eventually(async () => {
      const held = await heldByWorkers()
      return held.size === workers && sumOf(held) === tenants.length
    }, patience)
    for (const kubeconfig of tenants) {
      expect(await up.kubectl(["get", "namespaces"], { kubeconfig })).toContain("kube-system")
    }
    // Controllers and syncer continue for tenants that have moved.
    await up.kubectl(["scale", "deployment", "web", "--replicas=3"], { kubeconfig: "team-0" })
    await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=60s"], { kubeconfig: "team-0", ...patience })
    const { stdout, code } = await up.cli(["tenant", "create", "late"])
    expect([code, stdout]).toEqual([0, expect.stringContaining("late")])
    expect(await up.kubectl(["get", "pods"], { kubeconfig: "late" })).toBe("")
    expect((await up.cli(["tenant", "delete", "late"])).code).toBe(0)
  }, 180_000)
})

describe("the first process", () => {
  test("leaves no processes behind when it is killed, and restores everything at the next start", async () => {
    const before = await children(up.pid)
    expect(before).toHaveLength(workers)
    await up.kill()
    await eventually(() => !before.some(isAlive), { ...patience, what: "the workers to end" })
    await up.start()
    expect(await children(up.pid)).toHaveLength(workers)
    for (const kubeconfig of tenants) {
      expect(await up.kubectl(["get", "namespaces"], { kubeconfig })).toContain("kube-system")
    }
    expect(await up.kubectl(["get", "deployment", "web"], { kubeconfig: "team-0" })).toContain("web")
  }, 180_000)

  test("exits in order on request, and leaves consistent stores", async () => {
    const before = await children(up.pid)
    const code = await up.stop()
    expect([code, up.stderr.replace(/^… .*\n/gm, "")]).toEqual([0, ""])
    expect(before.some(isAlive)).toBe(false)
    const checked = await polyplane(["check", "--data-dir", up.dataDir])
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("no faults") })
  }, 120_000)
})
