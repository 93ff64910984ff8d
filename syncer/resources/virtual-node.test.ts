import { describe, expect, test } from "vitest"
import type { Node } from "../../apimachinery/object.ts"
import { settingsOf, syncerLimits } from "../options.ts"
import { superResource } from "../conversion/resource-names.ts"
import { fakeTenant } from "../testing/fake-tenants.ts"
import { isOnlyHeartbeat, node, tenantsOfChangedResources } from "./node.ts"
import { emptyView, type SyncContext } from "./resource-sync.ts"

const tenant = fakeTenant("acme")
const context: SyncContext = {
  tenant,
  settings: settingsOf({}),
  now: 0,
  view: emptyView,
}
const fromSuper = { key: "maintenance", effect: "NoSchedule" } as const
const own = { key: "team", value: "a", effect: "NoExecute" } as const
const dongles = superResource("example.com/dongle", tenant)!

function real(change: { labels?: object; spec?: object; capacity?: object } = {}): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n", uid: "nu", labels: { zone: "a", ...change.labels } },
    spec: { taints: [fromSuper], unschedulable: true, ...change.spec },
    status: { capacity: { cpu: "4", ...change.capacity }, allocatable: { cpu: "4", ...change.capacity } },
  } as unknown as Node
}

/** The node as published, with the tenant's changes. */
function touched(): Node {
  const shown = node.toTenant(real(), context)!
  return {
    ...shown,
    metadata: { ...shown.metadata, labels: { ...shown.metadata.labels, color: "blue" } },
    spec: { taints: [own, fromSuper], unschedulable: true },
    status: { ...shown.status, capacity: { cpu: "4", "example.com/dongle": "2" } },
  } as Node
}

describe("a virtual node", () => {
  test("keeps the tenant's fields", () => {
    const [first, ...rest] = node.changed(node.toTenant(real(), context)!, touched())
    // Only allocatable is set to the whole capacity.
    expect(first).toMatchObject({
      subresource: "status",
      patch: { status: { allocatable: { "example.com/dongle": "2" } } },
    })
    expect(rest).toEqual([])
  })

  test("loses only what super no longer has", () => {
    const now = real({ labels: { zone: undefined, rack: "7" }, spec: { taints: undefined, unschedulable: undefined } })
    const [patch] = node.changed(node.toTenant(now, context)!, touched())
    expect(patch?.patch).toMatchObject({
      metadata: { labels: { zone: null, rack: "7" } },
      spec: { taints: [own], unschedulable: null },
    })
  })

  test("shows super's value if both have one", () => {
    const taken = real({ labels: { color: "red" } })
    const [patch] = node.changed(node.toTenant(taken, context)!, touched())
    expect(patch?.patch).toMatchObject({ metadata: { labels: { color: "red" } } })
  })

  test("has extended resources in super under a name that no other tenant can see or use", () => {
    const claim = node.claim?.(touched(), real(), context)
    expect(claim).toEqual({
      subresource: "status",
      patch: { status: { capacity: { [dongles]: "2" }, allocatable: { [dongles]: "2" } } },
    })
    const counted = real({ capacity: { [dongles]: "2" } })
    expect(node.claim?.(touched(), counted, context)).toBeUndefined()
    expect(node.claim?.(undefined, counted, context)?.patch).toMatchObject({
      status: { capacity: { [dongles]: null } },
    })
    expect(node.toTenant(counted, context)?.status?.capacity).toEqual({ cpu: "4" })
    expect(node.claim?.(undefined, counted, { ...context, tenant: fakeTenant("other") })).toBeUndefined()
  })

  const many = (count: number, of: (index: number) => string): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [of(index), "1"]))

  function withResources(resources: Record<string, string>): Node {
    const one = touched()
    return { ...one, status: { ...one.status, capacity: { cpu: "4", ...resources } } } as unknown as Node
  }

  test("has room in super for a number of resources of all tenants together; those that are there stay", () => {
    const { resourcesOfAllPerNode: most } = syncerLimits
    const others = many(most - 1, (index) => superResource(`example.com/r${index}`, fakeTenant(`other-${index}`))!)
    const mine = withResources({ "example.com/a": "1", "example.com/b": "1" })
    const [a, b] = ["example.com/a", "example.com/b"].map((name) => superResource(name, tenant)!)
    const first = node.claim?.(mine, real({ capacity: others }), context)
    expect(first?.patch).toEqual({ status: { capacity: { [a!]: "1" }, allocatable: { [a!]: "1" } } })
    expect(node.unclaimed?.(mine, real({ capacity: others }), context)).toContain('does not count "example.com/b" on')
    const full = real({ capacity: { ...others, [b!]: "1" } })
    expect(node.claim?.(mine, full, context)).toBeUndefined()
    expect(node.unclaimed?.(mine, full, context)).toContain('does not count "example.com/a" on')
    expect(node.claim?.(withResources({ "example.com/a": "1" }), full, context)?.patch).toMatchObject({
      status: { capacity: { [b!]: null } },
    })
  })

  test("that has more resources than super counts of a tenant says so", () => {
    const mine = withResources(many(syncerLimits.resourcesPerNode + 20, (index) => `example.com/r${100 + index}`))
    const { status } = node.claim!(mine, real(), context)!.patch as { status: { capacity: object } }
    expect(Object.keys(status.capacity)).toHaveLength(syncerLimits.resourcesPerNode)
    expect(node.unclaimed?.(mine, real(), context)).toContain('"example.com/r123" and 12 more on this node')
    expect(node.unclaimed?.(touched(), real(), context)).toBeUndefined()
  })

  test("is only added to in the state that was seen", () => {
    const seen = real()
    seen.metadata.resourceVersion = "7"
    expect(node.claim?.(touched(), seen, context)?.patch).toMatchObject({ metadata: { resourceVersion: "7" } })
  })

  test("does not change for other tenants with a tenant's resources", () => {
    expect(isOnlyHeartbeat(real(), real({ capacity: { [dongles]: "2" } }))).toBe(true)
    expect(tenantsOfChangedResources(real(), real({ capacity: { [dongles]: "2" } }))).toEqual(
      new Set([tenant.clusterKey]),
    )
  })

  test("loses fields whose origin was not recorded", () => {
    const { metadata, ...rest } = touched()
    const forgotten: Node = { ...rest, metadata: { ...metadata, annotations: {} } }
    const [patch] = node.changed(node.toTenant(real(), context)!, forgotten)
    expect(patch?.patch).toMatchObject({ metadata: { labels: { color: null } }, spec: { taints: [fromSuper] } })
  })
})
