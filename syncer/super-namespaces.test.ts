import { expect, onTestFinished, test, vi } from "vitest"
import { superNamespace } from "../apimachinery/tenancy.ts"
import { namespaces } from "../client/resources.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { syncerLimits } from "./options.ts"
import { SuperNamespaces } from "./super-namespaces.ts"
import { fakeTenant } from "./testing/fake-tenants.ts"

const tenant = { ...fakeTenant("acme"), quota: { namespaces: 2 } }

test("namespaces count as the copies do, with those in super that the tenant has no more", async () => {
  vi.useFakeTimers({ toFake: ["performance"] })
  onTestFinished(() => void vi.useRealTimers())
  const superCluster = new FakeCluster({ isSuper: true })
  const made = new SuperNamespaces(superCluster, tenant)
  await made.ensure("one")
  await superCluster.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "of-super" } })
  await made.ensure("two")
  const refused = {
    code: 403,
    details: { name: "three", kind: "namespaces" },
    message:
      'namespaces "three" is forbidden: exceeded quota: tenant, requested: namespaces=1, used: namespaces=2, limited: namespaces=2',
  }
  await expect(made.ensure("three")).rejects.toMatchObject({ status: refused })
  await made.ensure("two")
  superCluster.remove(namespaces, undefined, superNamespace(tenant.clusterKey, "one"))
  vi.advanceTimersByTime(syncerLimits.namespacesFullMs)
  await made.ensure("three")
  await expect(made.ensure("four")).rejects.toMatchObject({ code: 403 })
})
