import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest"
import type { Service } from "../apimachinery/object.ts"
import { notFound, serviceUnavailable } from "../apimachinery/status.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import { silentLog } from "../client/log.ts"
import { namespaces, services } from "../client/resources.ts"
import { buildSuperObject } from "./conversion/super-object.ts"
import { defaultSettings, syncerLimits } from "./options.ts"
import { emptyView } from "./resources/resource-sync.ts"
import { service as serviceSync } from "./resources/service.ts"
import { createServiceAddresses, type ServiceAddressClaims } from "./service-addresses.ts"
import { SuperNamespaces } from "./super-namespaces.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { fakeTenant } from "./testing/fake-tenants.ts"

const tenant = fakeTenant("acme")
const home = superNamespace(tenant.clusterKey, "default")

const serviceOf = (uid: string, spec: object = {}): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace: "default", name: "web", uid },
  spec: { ports: [{ port: 80, protocol: "TCP" }], ...spec },
})

describe("createServiceAddresses()", () => {
  let superCluster: FakeCluster
  let tenantCluster: FakeCluster
  let addresses: ServiceAddressClaims
  const superNamespaces = new SuperNamespaces(() => superCluster)

  beforeEach(() => {
    superCluster = new FakeCluster({ isSuper: true })
    tenantCluster = new FakeCluster({ isPopulated: true })
    addresses = createServiceAddresses(superCluster, tenant, { superNamespaces, tenantClient: () => tenantCluster })
  })

  const copy = (): Service | undefined => superCluster.find<Service>(services, home, "web")

  test("the service gets super's address, and its namespace is created if needed", async () => {
    const service = serviceOf("u1")
    const claim = await addresses.claim(service, undefined)
    claim.commit()
    expect(service.spec?.clusterIP).toBe(copy()?.spec?.clusterIP)
    expect(service.spec?.clusterIPs).toEqual([service.spec?.clusterIP])
    expect(copy()?.metadata.annotations?.["tenancy.x-k8s.io/uid"]).toBe("u1")
    const marks = superCluster.find(namespaces, undefined, home)?.metadata.annotations
    expect(marks).toMatchObject({
      "tenancy.x-k8s.io/cluster": tenant.clusterKey,
      "tenancy.x-k8s.io/namespace": "default",
    })
    expect(marks).not.toHaveProperty("tenancy.x-k8s.io/uid")
  })

  test("a requested address is passed on, and its refusal is returned to the tenant", async () => {
    const service = serviceOf("u1", { clusterIP: "10.0.0.99" })
    await addresses.claim(service, undefined)
    expect(copy()?.spec?.clusterIP).toBe("10.0.0.99")
    const other = serviceOf("u2", { clusterIP: "10.0.0.99" })
    other.metadata.name = "other"
    await expect(addresses.claim(other, undefined)).rejects.toMatchObject({ reason: "Invalid" })
  })

  test("a failed write releases the address", async () => {
    const claim = await addresses.claim(serviceOf("u1"), undefined)
    await claim.rollback()
    expect(copy()).toBeUndefined()
  })

  test("an address that super does not take back is left to the patrol, and the write fails for its own reason", async () => {
    const warn = vi.fn()
    addresses = createServiceAddresses(superCluster, tenant, { superNamespaces, log: { ...silentLog, warn } })
    const before = serviceOf("u1", { type: "ClusterIP" })
    const made = await addresses.claim(before, undefined)
    const changed = await addresses.claim(serviceOf("u1", { ...before.spec, type: "NodePort" }), before)
    superCluster.fail = () => serviceUnavailable("no answer")
    await made.rollback()
    await changed.rollback()
    expect(warn).toHaveBeenCalledTimes(2)
  })

  test("release removes only the copy of that service", async () => {
    await addresses.claim(serviceOf("u1"), undefined)
    await addresses.release(serviceOf("u2"))
    expect(copy()).toBeDefined()
    await addresses.release(serviceOf("u1"))
    expect(copy()).toBeUndefined()
    await addresses.release(serviceOf("u1"))
  })

  test("the second of two creates of the same name fails with AlreadyExists", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    await addresses.claim(serviceOf("u1"), undefined)
    const failed = vi.fn()
    const second = addresses.claim(serviceOf("u2"), undefined).catch(failed)
    await vi.advanceTimersByTimeAsync(999)
    expect(failed).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    await second
    expect(failed).toHaveBeenCalledWith(expect.objectContaining({ reason: "AlreadyExists" }))
    expect(copy()?.metadata.annotations?.["tenancy.x-k8s.io/uid"]).toBe("u1")
  })

  test("it has the name if the first one fails meanwhile", async () => {
    const first = await addresses.claim(serviceOf("u1"), undefined)
    const second = addresses.claim(serviceOf("u2"), undefined)
    await first.rollback()
    ;(await second).commit()
    expect(copy()?.metadata.annotations?.["tenancy.x-k8s.io/uid"]).toBe("u2")
  })

  test("the copy of a deleted service is replaced", async () => {
    const claim = await addresses.claim(serviceOf("u1"), undefined)
    claim.commit()
    await addresses.claim(serviceOf("u2"), undefined)
    expect(copy()?.metadata.annotations?.["tenancy.x-k8s.io/uid"]).toBe("u2")
  })

  test("it is replaced also by a change of the next one, which had no copy", async () => {
    const claim = await addresses.claim(serviceOf("u1"), undefined)
    claim.commit()
    const before = serviceOf("u2", { type: "ExternalName", externalName: "example.com" })
    const after = serviceOf("u2", { type: "ClusterIP" })
    await addresses.claim(after, before)
    expect(copy()?.metadata.annotations?.["tenancy.x-k8s.io/uid"]).toBe("u2")
    expect(after.spec?.clusterIP).toBe(copy()?.spec?.clusterIP)
  })

  test("but not soon if another gateway may be writing it", async () => {
    const [one, other] = [0, 1].map(() =>
      createServiceAddresses(superCluster, tenant, {
        superNamespaces,
        tenantClient: () => tenantCluster,
        isShared: true,
      }),
    ) as [ServiceAddressClaims, ServiceAddressClaims]
    const claim = await one.claim(serviceOf("u1"), undefined)
    await expect(other.claim(serviceOf("u2"), undefined)).rejects.toMatchObject({ reason: "ServiceUnavailable" })
    expect(copy()?.metadata.annotations?.["tenancy.x-k8s.io/uid"]).toBe("u1")
    claim.commit()
    const creationTimestamp = new Date(Date.now() - syncerLimits.claimGraceMs).toISOString()
    superCluster.edit(services, home, "web", { metadata: { creationTimestamp } })
    await other.claim(serviceOf("u2"), undefined)
    expect(copy()?.metadata.annotations?.["tenancy.x-k8s.io/uid"]).toBe("u2")
  })

  test("the copy of an existing service is not replaced", async () => {
    const living = await tenantCluster.create(services, serviceOf("ignored"))
    const claim = await addresses.claim(serviceOf(living.metadata.uid!), undefined)
    claim.commit()
    await expect(addresses.claim(serviceOf("u2"), undefined)).rejects.toMatchObject({ reason: "AlreadyExists" })
    expect(copy()?.metadata.annotations?.["tenancy.x-k8s.io/uid"]).toBe(living.metadata.uid)
  })

  test("a change is made in super first and reverted when the write fails", async () => {
    const before = serviceOf("u1", { type: "ClusterIP" })
    await addresses.claim(before, undefined)
    const after = { ...serviceOf("u1", { ...before.spec, type: "NodePort" }) }
    const claim = await addresses.claim(after, before)
    expect(copy()?.spec?.type).toBe("NodePort")
    expect(after.spec?.clusterIP).toBe(before.spec?.clusterIP)
    await claim.rollback()
    expect(copy()?.spec?.type).toBe("ClusterIP")
  })

  describe("changes of IP families are requested from super", () => {
    const single = { type: "ClusterIP", ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4"] }
    const dual = { ...single, ipFamilyPolicy: "PreferDualStack", ipFamilies: ["IPv4", "IPv6"] }

    const families = (): object => {
      const { ipFamilyPolicy, ipFamilies, clusterIPs } = copy()?.spec ?? {}
      return { ipFamilyPolicy, ipFamilies, clusterIPs }
    }

    test("a second family is reverted when the write fails", async () => {
      const before = serviceOf("u1", single)
      await addresses.claim(before, undefined)
      const first = before.spec?.clusterIP ?? ""
      const after = serviceOf("u1", { ...before.spec, ...dual, clusterIPs: [first, "fd00::9"] })
      const claim = await addresses.claim(after, before)
      expect(after.spec?.ipFamilyPolicy).toBe("PreferDualStack")
      expect(families()).toEqual({
        ipFamilyPolicy: "PreferDualStack",
        ipFamilies: ["IPv4", "IPv6"],
        clusterIPs: [first, "fd00::9"],
      })
      await claim.rollback()
      expect(families()).toMatchObject({ ipFamilyPolicy: "SingleStack" })
    })

    test("a policy change drops the second family, which is restored when the write fails", async () => {
      const before = serviceOf("u1", { ...dual, clusterIP: "10.0.0.9", clusterIPs: ["10.0.0.9", "fd00::9"] })
      await addresses.claim(structuredClone(before), undefined)
      superCluster.edit(services, home, "web", { spec: before.spec })
      const after = serviceOf("u1", { ...before.spec, ...single, clusterIPs: ["10.0.0.9"] })
      const dropping = superCluster.patch.bind(superCluster)
      superCluster.patch = async (...request) => {
        superCluster.patch = dropping
        expect(request[3]).toMatchObject({ spec: { ipFamilyPolicy: "SingleStack" } })
        await dropping(...request)
        return superCluster.edit(services, home, "web", { spec: { ...after.spec, ...single } }) as never
      }
      const claim = await addresses.claim(after, before)
      await claim.rollback()
      expect(families()).toEqual({
        ipFamilyPolicy: "PreferDualStack",
        ipFamilies: ["IPv4", "IPv6"],
        clusterIPs: ["10.0.0.9", "fd00::9"],
      })
    })

    test("unchanged families are not requested", async () => {
      const before = serviceOf("u1", dual)
      await addresses.claim(before, undefined)
      superCluster.edit(services, home, "web", { spec: { ...copy()?.spec, ...single } })
      const after = serviceOf("u1", { ...before.spec, ports: [{ port: 81, protocol: "TCP" }] })
      await addresses.claim(after, before)
      expect(families()).toMatchObject({ ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4"] })
      expect(after.spec?.ipFamilyPolicy).toBe("SingleStack")
    })
  })

  test("a copy that is written between read and update is read again", async () => {
    const before = serviceOf("u1", { type: "ClusterIP" })
    await addresses.claim(before, undefined)
    const patch = superCluster.patch.bind(superCluster)
    superCluster.patch = async (...request) => {
      superCluster.patch = patch
      superCluster.edit(services, home, "web", { status: { loadBalancer: {} } })
      return patch(...request) as never
    }
    await addresses.claim(serviceOf("u1", { ...before.spec, type: "NodePort" }), before)
    expect(copy()?.spec?.type).toBe("NodePort")
  })

  test("a copy ahead of its service is not drift until the service changes or the limit expires", async () => {
    const before = serviceOf("u1", { type: "ClusterIP" })
    before.metadata.resourceVersion = "7"
    await addresses.claim(before, undefined)
    const after = { ...serviceOf("u1", { ...before.spec, type: "NodePort" }) }
    await addresses.claim(after, before)
    const changes = (resourceVersion: string, now: number) =>
      serviceSync.changed({ ...before, metadata: { ...before.metadata, resourceVersion } }, copy() as Service, {
        tenant,
        settings: defaultSettings,
        view: emptyView,
        now,
      })
    expect(changes("7", Date.now())).toEqual([])
    expect(changes("8", Date.now())).toHaveLength(1)
    expect(changes("7", Date.now() + syncerLimits.claimGraceMs)).toHaveLength(1)
  })

  test("a copy that the syncer creates from the previous state is updated", async () => {
    const before = serviceOf("u1", { type: "ExternalName", externalName: "example.com" })
    // The Service's namespace exists.
    const other = serviceOf("u0")
    other.metadata.name = "other"
    await addresses.claim(other, undefined)
    const get = superCluster.get.bind(superCluster)
    // Absent when it is read; a moment later it exists, in its state before the write.
    superCluster.get = async (resource, namespace, name) => {
      if (resource !== services) return get(resource, namespace, name) as never
      superCluster.get = get
      await syncerCopies(before)
      throw notFound(services, name)
    }
    const after = serviceOf("u1", { type: "ClusterIP" })
    await addresses.claim(after, before)
    expect(copy()?.spec?.type).toBe("ClusterIP")
    expect(copy()?.spec).not.toHaveProperty("externalName")
  })

  async function syncerCopies(service: Service): Promise<void> {
    const context = { tenant, settings: defaultSettings, view: emptyView, now: 0 }
    await superCluster.create(services, buildSuperObject(serviceSync as never, service, context))
  }

  test("external addresses are neither claimed nor removed, as the syncer decides about them", async () => {
    const outside = { type: "ClusterIP", externalIPs: ["192.0.2.7"], externalTrafficPolicy: "Cluster" }
    const before = serviceOf("u1", outside)
    await addresses.claim(before, undefined)
    expect(copy()?.spec?.clusterIP).toBe(before.spec?.clusterIP)
    expect(copy()?.spec).not.toHaveProperty("externalIPs")
    expect(copy()?.spec).not.toHaveProperty("externalTrafficPolicy")
    const withPort = (port: number): Service => serviceOf("u1", { ...before.spec, ports: [{ port, protocol: "TCP" }] })
    await addresses.claim(withPort(81), before)
    expect(copy()?.spec).not.toHaveProperty("externalIPs")
    expect(copy()?.spec).not.toHaveProperty("externalTrafficPolicy")
    superCluster.edit(services, home, "web", { spec: { ...copy()?.spec, ...outside } })
    await addresses.claim(withPort(82), before)
    expect(copy()?.spec).toMatchObject({ ...outside, ports: [{ port: 82 }] })
  })

  test("an ExternalName service needs no address", async () => {
    await addresses.claim(serviceOf("u1", { type: "ExternalName", externalName: "example.com" }), undefined)
    expect(superCluster.writes).toEqual([])
  })

  test("an unavailable super cluster is reported as 503 without super names", async () => {
    superCluster.fail = () => serviceUnavailable(`no answer about ${home}`)
    await expect(addresses.claim(serviceOf("u1"), undefined)).rejects.toMatchObject({
      reason: "ServiceUnavailable",
      message: 'service "web": no address from the super cluster: it does not answer',
    })
  })
})
