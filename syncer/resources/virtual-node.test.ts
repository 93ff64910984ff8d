import { describe, expect, test } from "vitest"
import type { Node } from "../../apimachinery/object.ts"
import { settingsOf } from "../options.ts"
import { superResource } from "../conversion/resource-names.ts"
import { fakeTenant } from "../testing/fake-tenants.ts"
import { node } from "./node.ts"
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

  test("loses fields whose origin was not recorded", () => {
    const { metadata, ...rest } = touched()
    const forgotten: Node = { ...rest, metadata: { ...metadata, annotations: {} } }
    const [patch] = node.changed(node.toTenant(real(), context)!, forgotten)
    expect(patch?.patch).toMatchObject({ metadata: { labels: { color: null } }, spec: { taints: [fromSuper] } })
  })
})
