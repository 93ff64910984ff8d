// polyplane check on a real etcd: it finds no faults in what gateways write, also while they write, and reports real faults.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { configMaps, namespaces } from "../../../client/resources.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { EtcdClient } from "../../../storage/etcd/client.ts"
import { defaultEtcdLimits } from "../../../storage/etcd/limits.ts"
import { polyplane } from "../../harness/polyplane.ts"
import { lacks } from "../harness/needs.ts"
import { TestEtcd } from "./test-etcd.ts"

const patience = { timeoutMs: 120_000 }

describe.skipIf(lacks(["etcd"]))("polyplane check on etcd", () => {
  let etcd: TestEtcd

  beforeAll(async () => {
    etcd = await TestEtcd.start()
  })
  afterAll(() => etcd[Symbol.asyncDispose]())

  const check = (prefix: string) =>
    polyplane(
      ["check", "--storage", "etcd", "--etcd-servers", etcd.servers.join(","), "--etcd-prefix", prefix],
      patience,
    )

  test(
    "finds nothing wrong with what a gateway writes, while it does, and names each fault",
    { timeout: 240_000 },
    async () => {
      const prefix = "/checked"
      await using gateway = await startTestGateway({ etcd: { servers: etcd.servers, prefix }, superCluster: false })
      const tenant = await gateway.createTenant("checked")
      const small = await gateway.createTenant("small", { quota: { objects: 40 } })
      for (const each of [tenant, small]) {
        const client = gateway.client(`/tenants/${each.tenant.name}`, each)
        for (let i = 0; i < 10; i++)
          await client.create(configMaps, {
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata: { name: `c-${i}`, namespace: "default" },
          } as KubeObject)
        await client.delete(configMaps, "default", "c-0")
        // Of the base layer.
        await client.delete(namespaces, undefined, "kube-node-lease")
      }
      const { stderr, ...found } = await check(`${prefix}/`)
      expect(found).toEqual({ stdout: "3 stores, no faults\n", code: 0 })
      // How far it is, when it takes long.
      expect(stderr.replaceAll(/^… .*\n/gm, "")).toBe("")

      const client = new EtcdClient({ servers: etcd.servers, limits: defaultEtcdLimits })
      const { uid } = tenant.tenant
      const put = async (key: string, text: string): Promise<void> => {
        const request_put = { key: Buffer.from(`${prefix}/stores/${key}`), value: Buffer.from(text) }
        await client.call(client.calls.txn, { compare: [], success: [{ request_put }], failure: [] }, "again")
      }
      await put("gateway/v/tenants/broken", "{")
      const lost = { ...tenant.tenant, name: "lost", uid: "gone" }
      await put("gateway/v/tenants/lost", JSON.stringify({ tenant: lost, state: "active", isStored: true }))
      await put("somebody/v/registry/a", "{}")
      await put(`${uid}/d/registry/nothing`, "")
      await put(`${uid}/q`, "ajar")
      await put(`${uid}/x/registry/a`, "{}")
      const { stdout, code } = await check(prefix)
      client.close()
      expect(code).toBe(1)
      const lines = stdout.trim().split("\n")
      expect(lines.at(-1)).toBe("5 stores, 6 faults")
      expect(lines.slice(0, -1).sort()).toEqual([
        expect.stringMatching(/^gateway: the record "\/tenants\/broken" cannot be read: /),
        "store somebody: it belongs to no tenant",
        `tenant "checked": "/registry/nothing" is marked as deleted from the base layer, which does not have it`,
        'tenant "checked": the gate of its quota says "ajar"',
        expect.stringMatching(/^tenant "checked": unknown record ".*x\/registry\/a"$/),
        'tenant "lost": its store gone is missing',
      ])
    },
  )

  test("says when there is nothing to check", { timeout: 120_000 }, async () => {
    const { stderr, code } = await check("/nothing")
    expect([code, stderr]).toEqual([1, expect.stringContaining("nothing of polyplane lies in that etcd")])
  })
})
