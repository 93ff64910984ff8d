// A gateway is stopped while another goes on, and then continues with what it knew: its clients see nothing that is older than what has been
// acknowledged anywhere, it overwrites nothing, and its watches miss nothing.

import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import type { ConfigMap } from "../../../apimachinery/object.ts"
import { isConflict } from "../../../apimachinery/status.ts"
import { createHttpClient } from "../../../client/http/client.ts"
import { configMaps } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { eventually } from "../../harness/eventually.ts"
import { collect, start } from "../../harness/processes.ts"
import { lacks } from "../harness/needs.ts"
import { TestEtcd } from "./test-etcd.ts"

const program = fileURLToPath(new URL("gateway-process.ts", import.meta.url))
const patience = { timeoutMs: 90_000 }
/** Also for longer than etcd waits for the answer to a ping, and than a request of the gateway takes. */
const freezes = [1_000, 21_000]

const configMap = (name: string, count = 0): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data: { count: String(count) },
})
const countOf = ({ data }: ConfigMap): number => Number(data?.["count"])

describe.skipIf(lacks(["etcd"]))("a gateway that is stopped for a while", () => {
  test("serves nothing old, overwrites nothing and misses nothing", { timeout: 300_000 }, async () => {
    await using etcd = await TestEtcd.start()
    await using other = await startTestGateway({ etcd: { servers: etcd.servers }, superCluster: false })
    const tenant = await other.createTenant("tenant")
    const child = start(process.execPath, [program, etcd.servers.join(",")], { stdio: ["ignore", "pipe", "inherit"] })
    const said = collect(child.stdout)
    const { url, authority } = await eventually(
      () => said().includes("\n") && (JSON.parse(said()) as { url: string; authority: string }),
      patience,
    )
    const theirs = other.client("/tenants/tenant", tenant)
    await using mine = createHttpClient({ server: `${url}/tenants/tenant`, certificateAuthority: authority, ...tenant })
    await theirs.create(configMaps, configMap("counter"))

    const ending = new AbortController()
    /** What has been acknowledged, and how many writes have no known outcome. */
    let acknowledged = 0
    let unknown = 0
    const stale: string[] = []
    const count = async (client: KubeClient): Promise<void> => {
      while (!ending.signal.aborted) {
        try {
          const before = acknowledged
          const object = await client.get<ConfigMap>(configMaps, "default", "counter")
          if (countOf(object) < before) stale.push(`${countOf(object)} after ${before}`)
          const next = countOf(object) + 1
          await client.update(configMaps, { ...object, data: { count: String(next) } })
          acknowledged = Math.max(acknowledged, next)
        } catch (error) {
          if (!isConflict(error)) unknown++
        }
      }
    }
    const leaving = new AbortController()
    const seen: number[] = []
    /** As an informer: it goes on from where it was. */
    const follow = async (): Promise<void> => {
      let { resourceVersion = "" } = (await mine.get(configMaps, "default", "counter")).metadata
      while (!leaving.signal.aborted) {
        try {
          const options = {
            namespace: "default",
            fieldSelector: "metadata.name=counter",
            resourceVersion,
            signal: leaving.signal,
          }
          for await (const { object } of mine.watch<ConfigMap>(configMaps, options)) {
            seen.push(countOf(object))
            resourceVersion = object.metadata.resourceVersion ?? ""
          }
        } catch {
          // It has ended, and goes on.
        }
      }
    }
    const counting = [count(mine), count(mine), count(theirs)]
    const following = follow()
    for (const milliseconds of freezes) {
      const before = acknowledged
      await eventually(() => acknowledged > before + 50, patience)
      child.kill("SIGSTOP")
      const frozenAt = performance.now()
      try {
        await eventually(() => acknowledged > before + 100 && performance.now() - frozenAt > milliseconds, patience)
      } finally {
        child.kill("SIGCONT")
      }
    }
    ending.abort()
    await Promise.all(counting)
    const last = countOf(await mine.get<ConfigMap>(configMaps, "default", "counter"))
    expect(countOf(await theirs.get<ConfigMap>(configMaps, "default", "counter"))).toBe(last)
    await eventually(() => seen.at(-1) === last, patience)
    leaving.abort()
    await following
    expect(stale).toEqual([])
    expect(last).toBeGreaterThanOrEqual(acknowledged)
    expect(last).toBeLessThanOrEqual(acknowledged + unknown)
    const [first = 0] = seen
    expect(seen).toEqual(Array.from(seen, (_, index) => first + index))
  })
})
