import { expect, test } from "vitest"
import type { KubeObject, Secret, Service } from "../apimachinery/object.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import {
  configMaps,
  events,
  namespaces,
  persistentVolumeClaims,
  secrets,
  serviceAccounts,
  services,
} from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import { object, startHarness } from "./testing/harness.ts"

test("restores a copy that was changed by hand, and keeps the keys of others", async () => {
  await using harness = await startHarness()
  await harness.cluster.create(configMaps, object("ConfigMap", "default", "settings", { data: { a: "1" } }))
  await harness.inSuper(configMaps, "settings")
  harness.superCluster.edit(configMaps, harness.home, "settings", {
    data: { a: "2", b: "3" },
    metadata: { labels: { cni: "x" } },
  })
  await eventually(
    () => {
      const data = harness.superCluster.find(configMaps, harness.home, "settings")?.["data"] as Record<string, string>
      return data["a"] === "1" && data["b"] === undefined
    },
    { what: "repaired" },
  )
  expect(harness.superCluster.find(configMaps, harness.home, "settings")?.metadata.labels).toMatchObject({ cni: "x" })
})

test("renames the root CA and keeps super's own", async () => {
  await using harness = await startHarness()
  await harness.settled()
  await harness.superCluster.create(
    configMaps,
    object("ConfigMap", harness.home, "kube-root-ca.crt", { data: { "ca.crt": "super" } }),
  )
  await harness.cluster.create(
    configMaps,
    object("ConfigMap", "default", "kube-root-ca.crt", { data: { "ca.crt": "tenant" } }),
  )
  const copy = await harness.inSuper(configMaps, "tenant-kube-root-ca.crt")
  expect(copy["data"]).toEqual({ "ca.crt": "tenant" })
  expect(harness.superCluster.find(configMaps, harness.home, "kube-root-ca.crt")?.["data"]).toEqual({
    "ca.crt": "super",
  })
})

test("separates a tenant's object from the copy of its root CA of the same name", async () => {
  await using harness = await startHarness()
  const named = (name: string) => object("ConfigMap", "default", name, { data: { name } })
  await harness.cluster.create(configMaps, named("tenant-kube-root-ca.crt"))
  await harness.cluster.create(configMaps, named("kube-root-ca.crt"))
  const mine = await harness.inSuper(configMaps, "tenant-tenant-kube-root-ca.crt")
  expect(mine["data"]).toEqual({ name: "tenant-kube-root-ca.crt" })
  expect((await harness.inSuper(configMaps, "tenant-kube-root-ca.crt"))["data"]).toEqual({ name: "kube-root-ca.crt" })
  await harness.cluster.delete(configMaps, "default", "tenant-kube-root-ca.crt")
  const isGone = () =>
    harness.superCluster.find(configMaps, harness.home, "tenant-tenant-kube-root-ca.crt") === undefined
  await eventually(isGone, { what: "the tenant's own is gone" })
  expect(harness.superCluster.find(configMaps, harness.home, "tenant-kube-root-ca.crt")).toBeDefined()
})

test("adopts the default service account that super created", async () => {
  await using harness = await startHarness()
  await harness.cluster.create(namespaces, object("Namespace", undefined, "apps"))
  const apps = superNamespace(harness.tenant.clusterKey, "apps")
  await eventually(() => harness.superCluster.find(namespaces, undefined, apps), { what: "namespace" })
  await harness.superCluster.create(serviceAccounts, object("ServiceAccount", apps, "default"))
  const account = await harness.cluster.create(serviceAccounts, object("ServiceAccount", "apps", "default"))
  await eventually(
    () => {
      const annotations = harness.superCluster.find(serviceAccounts, apps, "default")?.metadata.annotations
      return annotations?.["tenancy.x-k8s.io/uid"] === account.metadata.uid
    },
    { what: "adopted" },
  )
})

test("never overwrites objects that are not copies, and reports them", async () => {
  await using harness = await startHarness()
  await harness.settled()
  await harness.superCluster.create(secrets, object("Secret", harness.home, "taken", { data: { a: "c3VwZXI=" } }))
  await harness.cluster.create(secrets, object("Secret", "default", "taken", { data: { a: "dGVuYW50" } }))
  await eventually(() => harness.cluster.all(events).find((event) => event["reason"] === "FailedSync"), {
    what: "an event",
  })
  const found = (): unknown => harness.superCluster.find<Secret>(secrets, harness.home, "taken")?.data
  expect(found()).toEqual({ a: "c3VwZXI=" })
  // They have no marks, so that nothing tells of their removal. No patrol takes place in the meantime.
  harness.superCluster.remove(secrets, harness.home, "taken")
  await eventually(() => (found() as Secret["data"])?.["a"] === "dGVuYW50", { what: "the copy in super" })
})

test("reports a volume attributes class that is set on a bound claim", async () => {
  await using harness = await startHarness()
  await harness.cluster.create(persistentVolumeClaims, object("PersistentVolumeClaim", "default", "data", { spec: {} }))
  await harness.inSuper(persistentVolumeClaims, "data")
  await harness.settled()
  expect(harness.cluster.all(events)).toEqual([])
  harness.cluster.edit(persistentVolumeClaims, "default", "data", { spec: { volumeAttributesClassName: "gold" } })
  await eventually(() => harness.cluster.all(events).find(({ reason }) => reason === "FailedSync"), {
    what: "an event",
  })
  expect(harness.superCluster.find(persistentVolumeClaims, harness.home, "data")).toBeDefined()
})

test("removes the copy of an earlier object of the same name before it creates the new one", async () => {
  await using harness = await startHarness()
  const first = await harness.cluster.create(configMaps, object("ConfigMap", "default", "one", { data: { a: "1" } }))
  await harness.inSuper(configMaps, "one")
  await harness.syncer[Symbol.asyncDispose]()
  harness.cluster.remove(configMaps, "default", "one")
  const second = await harness.cluster.create(configMaps, object("ConfigMap", "default", "one", { data: { a: "2" } }))
  await harness.start()
  await eventually(
    () => {
      const uid = harness.superCluster.find(configMaps, harness.home, "one")?.metadata.annotations?.[
        "tenancy.x-k8s.io/uid"
      ]
      return uid === second.metadata.uid && uid !== first.metadata.uid
    },
    { what: "the new copy" },
  )
})

test("deletes a claim in super while tenant pods still use it, but not one with another finalizer", async () => {
  await using harness = await startHarness()
  const inUse = "kubernetes.io/pvc-protection"
  const make = async (name: string, finalizers: string[]): Promise<void> => {
    const claim = object("PersistentVolumeClaim", "default", name, { spec: {} })
    await harness.cluster.create(persistentVolumeClaims, { ...claim, metadata: { ...claim.metadata, finalizers } })
    await harness.inSuper(persistentVolumeClaims, name)
    harness.superCluster.edit(persistentVolumeClaims, harness.home, name, { metadata: { finalizers: [inUse] } })
    await harness.cluster.delete(persistentVolumeClaims, "default", name)
  }
  const isLeaving = (name: string): boolean =>
    harness.superCluster.find(persistentVolumeClaims, harness.home, name)?.metadata.deletionTimestamp !== undefined
  await make("kept", [inUse, "example.com/backup"])
  await make("used", [inUse])
  await eventually(() => isLeaving("used"), { what: "deletion in super" })
  await harness.settled()
  expect(isLeaving("kept")).toBe(false)
  harness.cluster.edit(persistentVolumeClaims, "default", "kept", { metadata: { finalizers: [inUse] } })
  await eventually(() => isLeaving("kept"), { what: "the deletion of the released claim" })
  expect(harness.cluster.find(persistentVolumeClaims, "default", "used")).toBeDefined()
})

test("requests the tenant's address again when a service is recreated in super", async () => {
  await using harness = await startHarness()
  await harness.cluster.create(
    services,
    object("Service", "default", "web", { spec: { clusterIP: "10.0.0.77", ports: [] } }),
  )
  await harness.inSuper(services, "web")
  harness.superCluster.remove(services, harness.home, "web")
  expect((await harness.inSuper<Service>(services, "web")).spec?.clusterIP).toBe("10.0.0.77")
})

test("copies a service without its external addresses and reports that to the tenant", async () => {
  await using harness = await startHarness()
  const spec = { type: "ClusterIP", clusterIP: "10.0.0.78", externalIPs: ["192.0.2.7"], ports: [] }
  await harness.cluster.create(services, object("Service", "default", "web", { spec }))
  expect((await harness.inSuper<Service>(services, "web")).spec).not.toHaveProperty("externalIPs")
  const event = await eventually(() => harness.cluster.all(events).find(({ reason }) => reason === "FailedSync"), {
    what: "an event",
  })
  expect(event).toMatchObject({ type: "Warning", involvedObject: { kind: "Service", name: "web" } })
  expect(event["message"]).toMatch(/^spec\.externalIPs: /)
})

test.each([
  ["ConfigMap", configMaps, { a: "YQ==" }],
  ["Secret", secrets, { a: "YQ==" }],
])(
  "the tenant is told when the copy of a %s that somebody in super has fixed is made anew",
  async (kind, resource, data) => {
    await using harness = await startHarness()
    const { cluster, superCluster, home } = harness
    await cluster.create(resource, object(kind, "default", "a", { data }))
    await harness.inSuper(resource, "a")
    await harness.settled()
    const told = (): unknown[] => cluster.all(events).map(({ message }) => message)
    superCluster.edit(resource, home, "a", { immutable: true })
    await harness.settled()
    expect(told()).toEqual([])
    cluster.edit(resource, "default", "a", { data: { a: "Yg==" } })
    const copy = (): KubeObject | undefined => superCluster.find(resource, home, "a")
    await expect.poll(() => copy()?.["data"]).toEqual({ a: "Yg==" })
    expect(copy()?.["immutable"]).toBeUndefined()
    await expect.poll(told).toEqual([expect.stringContaining("immutable in the super cluster")])
  },
)

test("the tenant is not told of contents that are fixed when the copy of a Secret is made anew for its type", async () => {
  await using harness = await startHarness()
  const { cluster, superCluster, home } = harness
  await cluster.create(secrets, object("Secret", "default", "a", { type: "Opaque", data: { a: "YQ==" } }))
  const { uid } = (await harness.inSuper(secrets, "a")).metadata
  superCluster.edit(secrets, home, "a", { type: "example.com/other", immutable: true })
  const copy = (): KubeObject | undefined => superCluster.find(secrets, home, "a")
  await expect.poll(copy).toMatchObject({ type: "Opaque", metadata: { uid: expect.not.stringMatching(`^${uid}$`) } })
  await harness.settled()
  expect(cluster.all(events)).toEqual([])
})
