// Tests of the harness itself: what it starts, and that nothing remains.

import { once } from "node:events"
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import type { Node, Pod } from "../../../apimachinery/object.ts"
import { nodes, pods } from "../../../client/resources.ts"
import { eventually } from "../../harness/eventually.ts"
import { collect, start } from "../../harness/processes.ts"
import { kubernetesVersion } from "../build/cache.ts"
import { lacks } from "./needs.ts"
import { TestKubernetes } from "./test-kubernetes.ts"

describe.skipIf(lacks(TestKubernetes.binaries()))("an API server alone", () => {
  test("answers as the release it is, keeps an audit log when asked to, goes away and comes back with what it had", async () => {
    await using kubernetes = await TestKubernetes.start({ audit: true })
    const { text } = await kubernetes.get("/version")
    expect(JSON.parse(text)).toMatchObject({ gitVersion: kubernetesVersion, major: "1" })
    expect(await readFile(kubernetes.auditLog, "utf8")).toContain('"requestURI":"/version"')
    const { client } = kubernetes
    await client.create({ group: "", version: "v1", resource: "namespaces", namespaced: false }, namespace("kept"))
    await kubernetes.stopApiServer()
    await expect(kubernetes.get("/readyz")).rejects.toThrow("ECONNREFUSED")
    await kubernetes.startApiServer()
    expect((await kubernetes.get("/api/v1/namespaces/kept")).ok).toBe(true)
  })

  test("a flag it does not know ends the start with the program's own words", async () => {
    await expect(TestKubernetes.start({ apiServerFlags: ["--no-such-flag"] })).rejects.toThrow(
      /unknown flag: --no-such/,
    )
  })

  test("nothing stays when the test process is killed", async () => {
    const starter = fileURLToPath(new URL("start-and-hang.ts", import.meta.url))
    const child = start(process.execPath, [starter], { stdio: ["ignore", "pipe", "inherit"] })
    const said = collect(child.stdout)
    const pids = await eventually(() => said().includes("\n") && (JSON.parse(said()) as number[]), {
      timeoutMs: 60_000,
    })
    expect(pids.map(isRunning)).toEqual([true, true])
    const closed = once(child, "close")
    child.kill("SIGKILL")
    await closed
    await eventually(() => !pids.some(isRunning))
  })
})

const whole = { nodes: 3, controllerManager: true, scheduler: true }

describe.skipIf(lacks(TestKubernetes.binaries(whole)))("a whole cluster", () => {
  test("runs a pod on a simulated node, and its folder is gone afterwards", async () => {
    let folder: string
    {
      await using kubernetes = await TestKubernetes.start(whole)
      folder = kubernetes.path("")
      const { client } = kubernetes
      expect((await client.list<Node>(nodes)).items).toHaveLength(3)
      await client.create<Pod>(pods, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "web", namespace: "default" },
        spec: { containers: [{ name: "main", image: "nginx" }] },
      })
      const running = await eventually(async () => {
        const pod = await client.get<Pod>(pods, "default", "web")
        return pod.status?.phase === "Running" && pod
      })
      expect(running.spec?.nodeName).toMatch(/^node-[123]$/)
    }
    expect(existsSync(folder)).toBe(false)
  })
})

const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })

function isRunning(pid: number): boolean {
  // A zombie (ended, but not yet reaped by its parent) still has a folder.
  return existsSync(`/proc/${pid}/exe`)
}
