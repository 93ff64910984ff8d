import { describe, expect, test } from "vitest"
import type { Node } from "../../apimachinery/object.ts"
import { settingsOf } from "../options.ts"
import { contextWith, object } from "../testing/sync-context.ts"
import { node, isOnlyHeartbeat } from "./node.ts"

describe("virtual nodes", () => {
  const real: Node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n", uid: "nu", labels: { zone: "a", "tenancy.x-k8s.io/x": "y" } },
    spec: { providerID: "cloud://1", podCIDR: "10.2.0.0/24", taints: [{ key: "k", effect: "NoSchedule" }] },
    status: {
      addresses: [
        { type: "InternalIP", address: "192.168.0.1" },
        { type: "Hostname", address: "n" },
      ],
      conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "1" }],
      images: [{ names: ["secret-image"] }],
    },
  } as unknown as Node

  test("show only what a tenant may see, with the vn-agent's address", () => {
    const settings = settingsOf({
      vnAgentEndpoint: () => ({ type: "InternalIP", address: "192.168.0.1", port: 10550 }),
    })
    const shown = node.toTenant(real, { ...contextWith(), settings })
    expect(shown?.metadata.labels).toEqual({ zone: "a", "tenancy.x-k8s.io/virtualnode": "true" })
    expect(shown?.spec).toEqual({ taints: real.spec?.taints })
    expect(shown?.status).toMatchObject({ daemonEndpoints: { kubeletEndpoint: { Port: 10550 } } })
    expect(JSON.stringify(shown)).not.toMatch(/secret-image|cloud:|10\.2\.0/)
  })

  test("have the vn-agent's address with its type, once", () => {
    const settings = settingsOf({ vnAgentEndpoint: () => ({ type: "Hostname", address: "n", port: 10550 }) })
    const shown = node.toTenant(real, { ...contextWith(), settings })
    expect(shown?.status?.addresses).toEqual([{ type: "Hostname", address: "n" }])
  })

  test("are those that pods run on, if only these are published; the pods are read once for all nodes", () => {
    let reads = 0
    const tenantObjects = () => {
      reads++
      return [object({ spec: { containers: [], nodeName: real.metadata.name } })] as never[]
    }
    const view = { ...contextWith().view, tenantObjects }
    const context = { ...contextWith(), settings: settingsOf({ publishNodes: "used" }), view }
    const others = Array.from({ length: 100 }, (_, at) => ({ ...real, metadata: { ...real.metadata, name: `n${at}` } }))
    const shown = [real, ...others].filter((one) => node.toTenant(one, context) !== undefined)
    expect(shown).toEqual([real])
    expect(reads).toBe(1)
  })

  test("change with a condition, not with a heartbeat", () => {
    const beat = (heartbeat: string, status: string): Node => ({
      ...real,
      status: { ...real.status, conditions: [{ type: "Ready", status, lastHeartbeatTime: heartbeat }] } as NonNullable<
        Node["status"]
      >,
    })
    expect(isOnlyHeartbeat(beat("1", "True"), beat("2", "True"))).toBe(true)
    expect(isOnlyHeartbeat(beat("1", "True"), beat("2", "False"))).toBe(false)
    const shown = node.toTenant(real, contextWith())!
    expect(node.changed(node.toTenant(beat("9", "True"), contextWith())!, shown)).toEqual([])
  })
})
