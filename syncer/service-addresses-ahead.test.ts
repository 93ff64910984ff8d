// The syncer does not revert what was claimed in super for a write of the tenant that it has not seen yet.

import { expect, test } from "vitest"
import type { Service } from "../apimachinery/object.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import { services } from "../client/resources.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { defaultSettings } from "./options.ts"
import { emptyView } from "./resources/resource-sync.ts"
import { service as serviceSync } from "./resources/service.ts"
import { createServiceAddresses } from "./service-addresses.ts"
import { SuperNamespaces } from "./super-namespaces.ts"
import { fakeTenant } from "./testing/fake-tenants.ts"

const tenant = fakeTenant("acme")
const home = superNamespace(tenant.clusterKey, "default")
const external = { type: "ExternalName", externalName: "example.com" }

const serviceOf = (resourceVersion: string, spec: object): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace: "default", name: "web", uid: "u1", resourceVersion },
  spec: { ports: [{ port: 80, protocol: "TCP" }], ...spec },
})

function begin() {
  const superCluster = new FakeCluster({ isSuper: true })
  const addresses = createServiceAddresses(superCluster, tenant, {
    superNamespaces: new SuperNamespaces(() => superCluster),
  })
  /** What the syncer would do that knows the Service in this state. */
  const changesOf = (service: Service): unknown[] => {
    const copy = superCluster.find<Service>(services, home, "web")!
    return serviceSync.changed(service, copy, { tenant, settings: defaultSettings, view: emptyView, now: Date.now() })
  }
  return { addresses, changesOf }
}

test("of a copy that is made for a change", async () => {
  const { addresses, changesOf } = begin()
  const before = serviceOf("7", external)
  await addresses.claim(serviceOf("7", { type: "ClusterIP" }), before)
  expect(changesOf(before)).toEqual([])
})

test("of a copy that has not become like the state before the write, and need not change for it, unless the write fails", async () => {
  const { addresses, changesOf } = begin()
  const first = serviceOf("7", { type: "ClusterIP" })
  await addresses.claim(first, undefined)
  const before = serviceOf("8", external)
  const after = serviceOf("8", { type: "ClusterIP" })
  const claim = await addresses.claim(after, before)
  expect(after.spec?.clusterIP).toBe(first.spec?.clusterIP)
  expect(changesOf(before)).toEqual([])
  await claim.rollback()
  expect(changesOf(before)).toHaveLength(1)
})
