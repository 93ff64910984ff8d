import { describe, expect, test, vi } from "vitest"
import type { KubeObject, Node } from "../apimachinery/object.ts"
import { virtualNodeLabel } from "../apimachinery/tenancy.ts"
import { silentLog } from "../client/log.ts"
import { leases } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenants } from "../client/tenants.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { keepNodeLeases } from "./node-leases.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"

const node = (name: string, ready: string, labels: Record<string, string> = { [virtualNodeLabel]: "true" }): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: `uid-of-${name}`, labels },
  status: { conditions: [{ type: "Ready", status: ready }] },
})

/** Lets everything proceed that does not wait for the clock. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe("leases of virtual nodes", () => {
  async function renewed(controllers: boolean, nodes: Node[], rounds = 1): Promise<KubeObject[]> {
    const clock = new FakeClock(0)
    const tenants = new FakeTenants()
    const cluster = tenants.add(fakeTenant("own", { controllers }))
    const stop = new AbortController()
    const running = keepNodeLeases({ tenants, nodesOf: () => nodes, clock, log: silentLog }, stop.signal)
    for (let round = 1; ; round++) {
      await turns()
      if (round === rounds) break
      clock.advance(10_000)
    }
    stop.abort()
    await running
    return (await cluster.list(leases)).items
  }

  test("are created and renewed for a tenant with its own controller manager", async () => {
    expect(await renewed(false, [node("node-1", "True")], 2)).toMatchObject([
      {
        metadata: {
          name: "node-1",
          namespace: "kube-node-lease",
          ownerReferences: [{ kind: "Node", name: "node-1", uid: "uid-of-node-1" }],
        },
        spec: { holderIdentity: "node-1", leaseDurationSeconds: 40, renewTime: "1970-01-01T00:00:10.000000Z" },
      },
    ])
  })

  test("are renewed for a node that is not ready, but not for one that does not report", async () => {
    const found = await renewed(false, [node("node-1", "False"), node("node-2", "Unknown")])
    expect(found.map(({ metadata }) => metadata.name)).toEqual(["node-1"])
  })

  test("are not created for a node that the tenant created itself", async () => {
    expect(await renewed(false, [node("mine", "True", {})])).toEqual([])
  })

  test("are renewed while another tenant does not respond", async () => {
    const clock = new FakeClock(0)
    const tenants = new FakeTenants()
    const cluster = tenants.add(fakeTenant("own", { controllers: false }))
    const silent = { patch: () => new Promise<never>(() => undefined) } as unknown as KubeClient
    const all = {
      list: () => [fakeTenant("silent", { controllers: false }), ...tenants.list()],
      client: (name: string) => (name === "silent" ? silent : tenants.client(name)),
    } as unknown as Tenants
    const nodes = Array.from({ length: 40 }, (_, index) => node(`node-${index}`, "True"))
    const stop = new AbortController()
    void keepNodeLeases({ tenants: all, nodesOf: () => nodes, clock, log: silentLog }, stop.signal)
    for (let round = 0; round < 3; round++) {
      await turns()
      clock.advance(10_000)
    }
    stop.abort()
    const times = (await cluster.list(leases)).items.map(({ spec }) => (spec as { renewTime: string }).renewTime)
    expect(times).toEqual(nodes.map(() => "1970-01-01T00:00:20.000000Z"))
  })

  test("are no use of the tenant when they are renewed", async () => {
    const tenants = new FakeTenants()
    tenants.add(fakeTenant("own", { controllers: false }))
    const client = vi.spyOn(tenants, "client")
    const stop = new AbortController()
    const options = { tenants, nodesOf: () => [node("node-1", "True")], clock: new FakeClock(0), log: silentLog }
    const running = keepNodeLeases(options, stop.signal)
    await turns()
    stop.abort()
    await running
    expect(client.mock.calls.map(([, use]) => use)).toEqual([{ isUse: false }])
  })

  test("are not created for other tenants", async () => {
    expect(await renewed(true, [node("node-1", "True")])).toEqual([])
  })
})
