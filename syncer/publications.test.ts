// Publication of storage and priority classes: from super's objects to the tenant's, including removal.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import type { KubeObject, PersistentVolume, PersistentVolumeClaim } from "../apimachinery/object.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import {
  namespaces,
  persistentVolumeClaims,
  persistentVolumes,
  priorityClasses,
  storageClasses,
} from "../client/resources.ts"
import { startSyncer, type Syncer } from "./main.ts"
import { eventually } from "../test/harness/eventually.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"

const isPublic = { "tenancy.x-k8s.io/super.public": "true" }
const priorityClass = (name: string, value: number, labels = {}): KubeObject => ({
  apiVersion: "scheduling.k8s.io/v1",
  kind: "PriorityClass",
  metadata: { name, labels },
  value,
})

const storageClassOf = (pool: string): KubeObject => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "fast", labels: isPublic },
  provisioner: "disks.example.com",
  parameters: { pool, "csi.storage.k8s.io/node-stage-secret-namespace": "storage-system", adminSecretName: "x" },
})

describe("the syncer publishes", () => {
  let superCluster: FakeCluster
  let cluster: FakeCluster
  let other: FakeCluster
  let syncer: Syncer
  const tenant = fakeTenant("acme")
  const home = superNamespace(tenant.clusterKey, "default")

  beforeEach(async () => {
    superCluster = new FakeCluster({ isSuper: true })
    const tenants = new FakeTenants()
    cluster = tenants.add(tenant)
    other = tenants.add(fakeTenant("other"))
    for (const each of [cluster, other])
      await each.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } })
    syncer = await startSyncer({ tenants, superClient: superCluster, patrolPeriodMs: 3_600_000 })
    await syncer.whenSynced()
  })
  afterEach(() => syncer[Symbol.asyncDispose]())

  async function settled(): Promise<void> {
    await syncer.patrol()
    await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  }

  test("public priority classes to all tenants, and removes those that are no longer public", async () => {
    await superCluster.create(priorityClasses, priorityClass("high", 1000, isPublic))
    await superCluster.create(priorityClasses, priorityClass("private", 2000))
    for (const each of [cluster, other]) {
      const shown = await eventually(() => each.find(priorityClasses, undefined, "high"), { what: "high" })
      expect(shown["value"]).toBe(1000)
    }
    await settled()
    expect(cluster.find(priorityClasses, undefined, "private")).toBeUndefined()
    superCluster.edit(priorityClasses, undefined, "high", { metadata: { labels: null } } as never)
    await eventually(() => cluster.find(priorityClasses, undefined, "high") === undefined, { what: "high is gone" })
  })

  test("no priority class over a tenant's own of the same name", async () => {
    await cluster.create(priorityClasses, priorityClass("high", 5))
    await superCluster.create(priorityClasses, priorityClass("high", 1000, isPublic))
    await eventually(() => other.find(priorityClasses, undefined, "high"), { what: "high in the other tenant" })
    await settled()
    expect(cluster.find(priorityClasses, undefined, "high")?.["value"]).toBe(5)
  })

  test("classes anew if super has others of their names, which cannot be changed", async () => {
    const found = () => ({
      fast: cluster.find(storageClasses, undefined, "fast")?.["parameters"],
      high: cluster.find(priorityClasses, undefined, "high")?.["value"],
    })
    await superCluster.create(storageClasses, storageClassOf("a"))
    await superCluster.create(priorityClasses, priorityClass("high", 1000, isPublic))
    await expect.poll(found).toEqual({ fast: { pool: "a" }, high: 1000 })
    superCluster.remove(storageClasses, undefined, "fast")
    superCluster.remove(priorityClasses, undefined, "high")
    await superCluster.create(storageClasses, storageClassOf("b"))
    await superCluster.create(priorityClasses, priorityClass("high", 2000, isPublic))
    await expect.poll(found).toEqual({ fast: { pool: "b" }, high: 2000 })
  })

  test.each([
    ["a label", { claimed: true, secret: false }],
    ["a secret", { claimed: false, secret: true }],
  ])("a volume anew of which more has been told, once: %s", async (_what, more) => {
    const claim = await cluster.create<PersistentVolumeClaim>(persistentVolumeClaims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { namespace: "default", name: "data" },
    })
    await eventually(() => superCluster.find(persistentVolumeClaims, home, "data"), { what: "the claim in super" })
    const volume = (metadata: object, spec: object): PersistentVolume =>
      ({
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name: "volume-1", ...metadata },
        spec,
      }) as PersistentVolume
    const secretRef = { namespace: "storage-system", name: "pool" }
    const rbd = { image: "i", monitors: ["m"] }
    const ofTenant = { namespace: "default", name: "data", uid: claim.metadata.uid }
    const ofSuper = await superCluster.create(
      persistentVolumes,
      volume({ labels: { zone: "a" } }, { rbd: { ...rbd, secretRef } }),
    )
    const earlier = {
      labels: { zone: "a", ...(more.claimed ? { claimed: `by-${home}` } : {}) },
      annotations: { "tenancy.x-k8s.io/uid": ofSuper.metadata.uid ?? "" },
      finalizers: ["kubernetes.io/pv-protection"],
    }
    const source = { rbd: { ...rbd, ...(more.secret ? { secretRef } : {}) } }
    await cluster.create(persistentVolumes, volume(earlier, { ...source, claimRef: ofTenant }))
    superCluster.edit(persistentVolumes, undefined, "volume-1", {
      spec: { ...ofSuper.spec, claimRef: { namespace: home, name: "data" } },
    })
    const shown = await eventually(
      () => {
        const found = cluster.find<PersistentVolume>(persistentVolumes, undefined, "volume-1")
        return found?.metadata.finalizers === undefined ? found : undefined
      },
      { what: "the volume anew" },
    )
    expect(shown.metadata.labels).toEqual({ zone: "a" })
    expect(shown.spec).toEqual({ rbd, claimRef: expect.objectContaining(ofTenant) })
    const writes = cluster.writes.length
    await settled()
    await settled()
    expect(cluster.writes.slice(writes)).toEqual([])
  })

  test("a class that the tenant changes whenever it is created is published anew once", async () => {
    const create = cluster.create.bind(cluster)
    const creates = vi.spyOn(cluster, "create").mockImplementation((resource, object, ...more) => {
      const changed = resource === storageClasses ? { ...object, parameters: { of: "a webhook" } } : object
      return create(resource, changed, ...more)
    })
    const patch = cluster.patch.bind(cluster)
    vi.spyOn(cluster, "patch").mockImplementation((resource, ...of) =>
      resource === storageClasses ? cluster.get(resource, undefined, "fast") : patch(resource, ...of),
    )
    const made = (): number => creates.mock.calls.filter(([resource]) => resource === storageClasses).length
    await superCluster.create(storageClasses, storageClassOf("a"))
    await eventually(() => made() === 2, { what: "the class anew" })
    await settled()
    await settled()
    expect(made()).toBe(2)
    // The next time it is another one.
    superCluster.edit(storageClasses, undefined, "fast", { metadata: { labels: null } } as never)
    await eventually(() => cluster.find(storageClasses, undefined, "fast") === undefined, { what: "the class is gone" })
    superCluster.edit(storageClasses, undefined, "fast", { metadata: { labels: isPublic } })
    await eventually(() => made() === 4, { what: "the class anew again" })
    await settled()
    expect(made()).toBe(4)
  })

  test("the volume of a claim to the claim's tenant only, with the tenant's claim reference", async () => {
    const claim = await cluster.create<PersistentVolumeClaim>(persistentVolumeClaims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { namespace: "default", name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    })
    const copy = await eventually(() => superCluster.find(persistentVolumeClaims, home, "data"), {
      what: "the claim in super",
    })
    await superCluster.create<PersistentVolume>(persistentVolumes, {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "volume-1", labels: { zone: "a", claimed: `by-${home}` } },
      spec: {
        csi: {
          driver: "disks.example.com",
          volumeHandle: `pool/${home}-data`,
          volumeAttributes: { "csi.storage.k8s.io/pvc/namespace": home, "csi.storage.k8s.io/pvc/name": "data" },
          nodeStageSecretRef: { namespace: "storage-system", name: "pool" },
          nodePublishSecretRef: { namespace: home, name: "own" },
        },
        mountOptions: [`subdir=${home}`],
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        claimRef: {
          namespace: home,
          name: "data",
          ...(copy.metadata.uid === undefined ? {} : { uid: copy.metadata.uid }),
        },
      },
    })
    superCluster.edit(persistentVolumes, undefined, "volume-1", { status: { phase: "Bound" } })
    superCluster.edit(persistentVolumeClaims, home, "data", {
      spec: { volumeName: "volume-1" },
      status: { phase: "Bound", capacity: { storage: "1Gi" } },
    })
    const shown = await eventually(
      () => {
        const volume = cluster.find<PersistentVolume>(persistentVolumes, undefined, "volume-1")
        return volume?.status?.phase === "Bound" ? volume : undefined
      },
      { what: "the volume in the tenant" },
    )
    expect(shown.spec?.claimRef).toMatchObject({ namespace: "default", name: "data", uid: claim.metadata.uid })
    expect(shown.metadata.labels).toEqual({ zone: "a" })
    expect(shown.spec).toMatchObject({ mountOptions: ["subdir=default"] })
    expect(shown.spec?.csi).toEqual({
      driver: "disks.example.com",
      volumeHandle: "pool/default-data",
      volumeAttributes: { "csi.storage.k8s.io/pvc/namespace": "default", "csi.storage.k8s.io/pvc/name": "data" },
      nodePublishSecretRef: { namespace: "default", name: "own" },
    })
    expect(JSON.stringify(shown)).not.toContain(tenant.clusterKey)
    const bound = await eventually(
      () => {
        const own = cluster.find<PersistentVolumeClaim>(persistentVolumeClaims, "default", "data")
        return own?.status?.phase === "Bound" ? own : undefined
      },
      { what: "the claim is bound" },
    )
    expect(bound.spec?.volumeName).toBe("volume-1")
    await settled()
    expect(other.find(persistentVolumes, undefined, "volume-1")).toBeUndefined()
    superCluster.remove(persistentVolumes, undefined, "volume-1")
    await eventually(() => cluster.find(persistentVolumes, undefined, "volume-1") === undefined, {
      what: "the volume is gone",
    })
  })

  test("a volume that has outlived its claim as one of that claim, also to the next one of its name", async () => {
    const claim: PersistentVolumeClaim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { namespace: "default", name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    }
    const copied = () =>
      eventually(() => superCluster.find(persistentVolumeClaims, home, "data"), { what: "the claim in super" })
    const shown = () => cluster.find<PersistentVolume>(persistentVolumes, undefined, "volume-1")
    const first = await cluster.create(persistentVolumeClaims, claim)
    const { uid = "" } = (await copied()).metadata
    await superCluster.create<PersistentVolume>(persistentVolumes, {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "volume-1" },
      spec: { hostPath: { path: "/data" }, claimRef: { namespace: home, name: "data", uid } },
    })
    await eventually(() => shown()?.spec?.claimRef?.uid === first.metadata.uid, { what: "the volume of the claim" })
    await cluster.delete(persistentVolumeClaims, "default", "data")
    await eventually(() => superCluster.find(persistentVolumeClaims, home, "data") === undefined, {
      what: "it is gone",
    })
    superCluster.edit(persistentVolumes, undefined, "volume-1", { status: { phase: "Released" } })
    const next = await cluster.create(persistentVolumeClaims, claim)
    await copied()
    await settled()
    expect(shown()?.status?.phase).toBe("Released")
    expect(shown()?.spec?.claimRef).toMatchObject({ namespace: "default", name: "data" })
    expect(shown()?.spec?.claimRef?.uid).toBeDefined()
    expect(shown()?.spec?.claimRef?.uid).not.toBe(next.metadata.uid)
  })
})
