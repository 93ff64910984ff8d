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
  const made = new SuperNamespaces(() => superCluster)
  await made.ensure(tenant, "one")
  await superCluster.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "of-super" } })
  await made.ensure(tenant, "two")
  const refused = {
    code: 403,
    details: { name: "three", kind: "namespaces" },
    message:
      'namespaces "three" is forbidden: exceeded quota: tenant, requested: namespaces=1, used: namespaces=2, limited: namespaces=2',
  }
  await expect(made.ensure(tenant, "three")).rejects.toMatchObject({ status: refused })
  await made.ensure(tenant, "two")
  superCluster.remove(namespaces, undefined, superNamespace(tenant.clusterKey, "one"))
  vi.advanceTimersByTime(syncerLimits.namespacesFullMs)
  await made.ensure(tenant, "three")
  await expect(made.ensure(tenant, "four")).rejects.toMatchObject({ code: 403 })
})

test("the namespaces of all tenants are counted together, with those that are made meanwhile", async () => {
  vi.useFakeTimers({ toFake: ["performance"] })
  onTestFinished(() => void vi.useRealTimers())
  const superCluster = new FakeCluster({ isSuper: true })
  const made = new SuperNamespaces(() => superCluster)
  const list = vi.spyOn(superCluster, "list")
  const other = { ...fakeTenant("globex"), quota: { namespaces: 2 } }
  const namesakes = [made.ensure(tenant, "one"), made.ensure(tenant, "one")]
  await Promise.all([...namesakes, made.ensure(tenant, "two"), made.ensure(other, "one")])
  expect(list).toHaveBeenCalledTimes(1)

  const before = await superCluster.list(namespaces)
  const counting = Promise.withResolvers<typeof before>()
  list.mockReturnValueOnce(counting.promise)
  vi.advanceTimersByTime(syncerLimits.namespacesFullMs)
  const refused = expect(made.ensure(tenant, "three")).rejects.toMatchObject({ code: 403 })
  await vi.waitUntil(() => list.mock.calls.length === 3)
  await made.ensure(other, "two")
  counting.resolve(before)
  await refused
  await expect(made.ensure(other, "three")).rejects.toMatchObject({ code: 403 })
})
