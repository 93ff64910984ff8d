import { describe, expect, test } from "vitest"
import type { EndpointSlice } from "../../apimachinery/object.ts"
import { clusterAnnotation, namespaceAnnotation } from "../../apimachinery/tenancy.ts"
import { superKey } from "../key-of-super.ts"
import { defaultSettings } from "../options.ts"
import { fakeTenant } from "../testing/fake-tenants.ts"
import { endpointSlice } from "./endpointslice.ts"
import { emptyView, type ResourceSync, type SyncContext } from "./resource-sync.ts"

const context: SyncContext = {
  tenant: fakeTenant("acme"),
  settings: defaultSettings,
  now: 0,
  view: emptyView,
}

function slice(managedBy?: string): EndpointSlice {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      namespace: "default",
      name: "web-1",
      uid: "u1",
      ...(managedBy === undefined ? {} : { labels: { "endpointslice.kubernetes.io/managed-by": managedBy } }),
    },
    addressType: "IPv4",
    endpoints: [
      {
        addresses: ["10.0.0.1"],
        conditions: { ready: true },
        targetRef: { kind: "Pod", namespace: "default", name: "a", uid: "u2" },
      },
    ],
    ports: [{ name: "http", port: 80, protocol: "TCP" }],
  }
}

describe("EndpointSlices", () => {
  test.each([
    [undefined, true],
    ["somebody.example.com", true],
    ["endpointslice-controller.k8s.io", false],
    ["endpointslicemirroring-controller.k8s.io", false],
  ])("made by %s are copied: %s", (managedBy, copied) => {
    expect(endpointSlice.synced?.(slice(managedBy), context)).toBe(copied)
  })

  test("a slice that super mirrors from a tenant's Endpoints is not a copy", () => {
    const annotations = { [clusterAnnotation]: context.tenant.clusterKey, [namespaceAnnotation]: "default" }
    const inSuper = (object: EndpointSlice) => ({ ...object, metadata: { ...object.metadata, annotations } })
    const key = (object: EndpointSlice) => superKey(endpointSlice as ResourceSync, "acme", inSuper(object))
    expect(key(slice("endpointslicemirroring-controller.k8s.io"))).toBeUndefined()
    expect(key(slice())).toMatchObject({ namespace: "default", name: "web-1" })
  })

  test("a copy equals its original without references to the tenant's objects", () => {
    const object = slice()
    const copy = { ...object, ...endpointSlice.toSuper(object, context) }
    expect(copy.endpoints?.[0]?.targetRef).toEqual({ kind: "Pod", name: "a" })
    expect(endpointSlice.changed(object, copy, context)).toEqual([])
  })

  test("an address that was removed is removed from the copy", () => {
    const object = slice()
    const copy = { ...object, ...endpointSlice.toSuper(object, context) }
    const [step] = endpointSlice.changed({ ...object, endpoints: [] }, copy, context)
    expect(step?.patch).toEqual({ endpoints: [], ports: object.ports })
  })
})
