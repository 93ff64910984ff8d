// A gateway is killed under load: what it acknowledged is there, the other goes on, and its watches have seen everything.

import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { createHttpClient } from "../../../client/http/client.ts"
import { configMaps } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { eventually } from "../../harness/eventually.ts"
import { collect, start } from "../../harness/processes.ts"
import { lacks } from "../harness/needs.ts"
import { TestEtcd } from "./test-etcd.ts"

const program = fileURLToPath(new URL("gateway-process.ts", import.meta.url))
const waitMs = 90_000

const configMap = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
})

describe.skipIf(lacks(["etcd"]))("a gateway killed under load", () => {
  test("loses nothing it has acknowledged, and no event of the other's watches", { timeout: 300_000 }, async () => {
    await using etcd = await TestEtcd.start({ members: 3, durable: true })
    await using survivor = await startTestGateway({ etcd: { servers: etcd.servers }, superCluster: false })
    const tenant = await survivor.createTenant("tenant")
    const child = start(process.execPath, [program, etcd.servers.join(",")], { stdio: ["ignore", "pipe", "inherit"] })
    const said = collect(child.stdout)
    const { url, authority } = await eventually(
      () => said().includes("\n") && (JSON.parse(said()) as { url: string; authority: string }),
      { timeoutMs: waitMs },
    )
    const others = survivor.client("/tenants/tenant", tenant)
    await using mine = createHttpClient({ server: `${url}/tenants/tenant`, certificateAuthority: authority, ...tenant })

    const seen = new Set<string | undefined>()
    let events = 0
    const ending = new AbortController()
    const { metadata } = await others.list(configMaps, { namespace: "default" })
    const watching = (async () => {
      const options = { namespace: "default", resourceVersion: metadata.resourceVersion, signal: ending.signal }
      for await (const { object } of others.watch(configMaps, options)) {
        events++
        seen.add(object.metadata.name)
      }
    })()

    const acknowledged: string[] = []
    /** Until the server is gone. */
    const write = async (client: KubeClient, writer: string, count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        try {
          await client.create(configMaps, configMap(`${writer}-${i}`))
        } catch {
          return // it has been killed; what it did not acknowledge may be there or not
        }
        acknowledged.push(`${writer}-${i}`)
      }
    }
    const writing = Array.from({ length: 8 }, (_, i) => write(mine, `mine-${i}`, Infinity))
    await eventually(() => acknowledged.length >= 200, { timeoutMs: waitMs })
    const closed = once(child, "close")
    child.kill("SIGKILL")
    await closed
    await Promise.all(writing)
    await write(others, "others", 50)
    expect(acknowledged).toContain("others-49")

    const { items } = await others.list(configMaps, { namespace: "default" })
    const names = items.map((item) => item.metadata.name ?? "")
    const present = new Set(names)
    expect(acknowledged.filter((name) => !present.has(name))).toEqual([])
    const written = names.filter((name) => name !== "kube-root-ca.crt")
    await eventually(() => written.every((name) => seen.has(name)), { timeoutMs: waitMs })
    ending.abort()
    await watching.catch(() => undefined) // the abort
    expect(events).toBe(written.length)
  })
})
