// Tenants distributed over several processes: a client does not notice which process it is connected to, nor (except for a moment)
// that one was killed. Acknowledged writes are preserved, watches continue, and no process remains when the first one is killed.

import { execFile } from "node:child_process"
import { once } from "node:events"
import { request } from "node:http"
import { readFile, rename, rm, stat } from "node:fs/promises"
import path from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { connect } from "node:tls"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { ConfigMap, KubeObject } from "../../apimachinery/object.ts"
import { createHttpClient } from "../../client/http/client.ts"
import { Informer } from "../../client/informers/informer.ts"
import { loadKubeconfig } from "../../client/credentials/kubeconfig.ts"
import { configMaps } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { areProbed } from "../../client/testing/probed-connections.ts"
import { eventually } from "../harness/eventually.ts"
import { temporaryFolder } from "../harness/folders.ts"
import { call, certificateOf } from "../harness/https.ts"
import { polyplane, startPolyplane, type Polyplane } from "../harness/polyplane.ts"
import { collect, start } from "../harness/processes.ts"

const workers = 3
/** So many that it is practically impossible that one worker has them all. */
const tenants = Array.from({ length: 12 }, (_, index) => `team-${index}`)
const secretHeader = "x-polyplane-forwarded"
/** The tests do not measure time; this is a limit for loaded machines. */
const patience = { timeoutMs: 60_000 }
/** Delay of a client after a failed request. */
const pauseMs = 20

let up: Polyplane
let auditLog: string
/** The initial workers. */
let firstWorkers: number[]
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  auditLog = path.join(
    stack.adopt(await temporaryFolder("polyplane-audit"), (folder) => rm(folder, { recursive: true })),
    "log",
  )
  up = stack.use(
    await startPolyplane({
      args: ["--workers", String(workers), "--tenants", tenants.join(","), "--audit-log", auditLog],
      readyTimeoutMs: 120_000,
    }),
  )
  firstWorkers = await children(up.pid)
}, 150_000)

afterAll(() => stack.disposeAsync())

/** Values of a metric, by process. */
async function metric(name: string): Promise<Map<string, number>> {
  const text = await up.kubectl(["get", "--raw", "/metrics"], { kubeconfig: "admin" })
  const found = text.matchAll(new RegExp(`^${name}\\{process="([^"]+)"\\} (\\d+)$`, "gm"))
  return new Map(Array.from(found, ([, process = "", value]) => [process, Number(value)]))
}

/** Process ids of the children of a process. */
async function children(pid: number | undefined): Promise<number[]> {
  const { stdout } = await promisify(execFile)("pgrep", ["-P", String(pid)])
  return stdout.trim().split("\n").map(Number)
}

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

const settings = (name: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name },
})
const listPath = (tenant: string): string => `/tenants/${tenant}/api/v1/namespaces/default/configmaps`

test("all processes write the audit log, and begin a new file after SIGHUP", async () => {
  /** Which of the tenants' requests are in the file. */
  const tenantsIn = async (file: string): Promise<string[]> => {
    const lines = (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "")
    const entries = lines.map((line) => JSON.parse(line) as { tenant: string; resource: string })
    return [...new Set(entries.filter(({ resource }) => resource === "secrets").map(({ tenant }) => tenant))].sort()
  }
  const requestAll = () => Promise.all(tenants.map((kubeconfig) => up.kubectl(["get", "secrets"], { kubeconfig })))
  await requestAll()
  await rename(auditLog, `${auditLog}.1`)
  // A line follows its response.
  await eventually(async () => (await tenantsIn(`${auditLog}.1`)).length === tenants.length, patience)
  process.kill(up.pid ?? 0, "SIGHUP")
  await eventually(async () => {
    await requestAll()
    return (await tenantsIn(auditLog)).length === tenants.length
  }, patience)
})

describe("with --workers", () => {
  test("tenants are distributed, and metrics have a label of their process", async () => {
    const held = await metric("polyplane_tenants")
    const byWorkers = [...held].filter(([process]) => process.startsWith("worker-"))
    expect(byWorkers.map(([process]) => process).sort()).toEqual(["worker-1", "worker-2", "worker-3"])
    expect(byWorkers.reduce((sum, [, count]) => sum + count, 0)).toBe(tenants.length)
    expect(byWorkers.filter(([, count]) => count > 0).length).toBeGreaterThan(1)
  })

  test.runIf(process.platform === "linux")("clients that vanish are noticed", async () => {
    const { hostname: host, port } = new URL(up.url)
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false })
    await once(socket, "secureConnect")
    await expect.poll(async () => [...new Set(await areProbed(Number(port)))]).toEqual([true])
    socket.destroy()
  })

  test("every process responds for every tenant", async () => {
    // Each call uses a new connection, and connections are distributed round-robin.
    for (const tenant of tenants.slice(0, 4)) {
      const credential = certificateOf(await up.readKubeconfig(tenant))
      for (let turn = 0; turn < 2 * workers; turn++) {
        const name = `by-${turn}`
        const written = await call(up.url, {
          ...credential,
          method: "POST",
          path: listPath(tenant),
          body: JSON.stringify(settings(name)),
        })
        expect([written.status, written.headers["content-type"]]).toEqual([201, "application/json"])
        const read = await call(up.url, { ...credential, path: `${listPath(tenant)}/${name}` })
        expect([read.status, (JSON.parse(read.text) as KubeObject).metadata.name]).toEqual([200, name])
      }
    }
  }, 120_000)

  test("a changed quota reaches the worker that has the tenant", async () => {
    const patch = ["patch", "virtualcluster", "team-2", "--type=merge", "--patch"]
    await up.kubectl([...patch, '{"spec":{"quota":{"objects":1}}}'], { kubeconfig: "admin" })
    const create = (name: string) => up.tryKubectl(["create", "configmap", name], { kubeconfig: "team-2" })
    await eventually(async () => /limited: objects=1$/m.test((await create("beyond")).stderr), patience)
    await up.kubectl([...patch, '{"spec":{"quota":null}}'], { kubeconfig: "admin" })
    await eventually(async () => (await create("within")).code === 0, patience)
  }, 120_000)

  test("a credential identifies its tenant in every process", async () => {
    const credential = certificateOf(await up.readKubeconfig("team-1"))
    const token = (
      await up.kubectl(["create", "token", "default", "-n", "kube-system"], { kubeconfig: "team-1" })
    ).trim()
    for (const given of [credential, { token }]) {
      for (let turn = 0; turn < workers; turn++) {
        const { status, text } = await call(up.url, {
          ...given,
          method: "POST",
          path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
          body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }),
        })
        expect([status, /"username":"([^"]+)"/.exec(text)?.[1]]).toEqual([
          201,
          "token" in given ? "system:serviceaccount:kube-system:default" : "admin",
        ])
      }
    }
  }, 120_000)

  test("a session of a new user: pods, logs, exec and port-forward", async () => {
    for (const kubeconfig of ["team-0", "team-1"]) {
      await up.kubectl(["create", "deployment", "web", "--image=nginx", "--replicas=2"], { kubeconfig })
      await up.kubectl(["expose", "deployment", "web", "--port=80"], { kubeconfig })
    }
    for (const kubeconfig of ["team-0", "team-1"]) {
      await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=60s"], { kubeconfig, ...patience })
      for (let turn = 0; turn < workers; turn++) {
        expect(await up.kubectl(["exec", "deploy/web", "--", "hostname"], { kubeconfig })).toMatch(/^web-/)
        expect(await up.kubectl(["exec", "-i", "deploy/web", "--", "cat"], { kubeconfig, input: "typed\n" })).toBe(
          "typed\n",
        )
      }
      expect(await up.kubectl(["logs", "deploy/web"], { kubeconfig })).not.toBe("")
    }
    const child = start("kubectl", ["port-forward", "deploy/web", ":80"], {
      env: up.environment("team-1"),
      stdio: "pipe",
    })
    try {
      const stdout = collect(child.stdout)
      const port = await eventually(() => /Forwarding from 127\.0\.0\.1:(\d+)/.exec(stdout())?.[1], patience)
      expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
    } finally {
      child.kill()
    }
  }, 180_000)
})

describe("identities cannot be forged", () => {
  const forged = ["guess 1 e30", `${"A".repeat(43)} 1 ${Buffer.from('{"certificates":[]}').toString("base64url")}`, ""]

  test("the internal header is ignored in requests of clients", async () => {
    const credential = certificateOf(await up.readKubeconfig("team-0"))
    const admin = Buffer.from(certificateOf(await up.readKubeconfig("admin")).certificate).toString("base64")
    for (const value of [...forged, `x 1 ${Buffer.from(`{"certificates":["${admin}"]}`).toString("base64url")}`]) {
      for (const target of [listPath("team-1"), "/polyplane/v1/tenants"]) {
        for (let turn = 0; turn < workers; turn++) {
          const { status } = await call(up.url, { ...credential, path: target, headers: { [secretHeader]: value } })
          expect([target, value, status]).toEqual([target, value, 401])
        }
      }
      const { status } = await call(up.url, {
        ...credential,
        path: listPath("team-0"),
        headers: { [secretHeader]: value },
      })
      expect(status).toBe(200)
    }
  })

  test("the private sockets are accessible only for this user and with the secret", async () => {
    const directory = path.join(up.dataDir, "run")
    expect((await stat(directory)).mode & 0o777).toBe(0o700)
    for (const socket of ["0.sock", "1.sock", "2.sock", "3.sock"]) {
      for (const headers of [{}, ...forged.map((value) => ({ [secretHeader]: value }))]) {
        const status = await new Promise((resolve, reject) => {
          const socketPath = path.join(directory, socket)
          request({ socketPath, path: listPath("team-0"), headers }, (response) => {
            response.resume()
            resolve(response.statusCode)
          })
            .on("error", reject)
            .end()
        })
        expect([socket, status]).toEqual([socket, 401])
      }
    }
  })
})

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
      const held = await metric("polyplane_tenants")
      const byWorkers = [...held].filter(([process]) => process.startsWith("worker-"))
      return byWorkers.length === workers && byWorkers.reduce((sum, [, count]) => sum + count, 0) === tenants.length
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
