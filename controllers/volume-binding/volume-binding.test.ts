// Which claims and volumes are bound to each other.

import { describe, expect, test, vi } from "vitest"
import type { KubeObject, PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { serviceUnavailable } from "../../apimachinery/status.ts"
import { boundInSuperAnnotation, uidAnnotation } from "../../apimachinery/tenancy.ts"
import { chance, createRandom, seeds } from "../../apimachinery/testing/random.ts"
import { events, persistentVolumeClaims, persistentVolumes, storageClasses } from "../../client/resources.ts"
import { eventually, startHarness } from "../testing/harness.ts"
import { claim, eventReasons, findClaim, findVolume, only, phase, volume } from "../testing/volumes.ts"

describe("a claim", () => {
  test("is bound to the smallest volume that fits", async () => {
    await using harness = await startHarness({ only })
    await harness.create(persistentVolumes, volume("large", "10Gi"))
    await harness.create(persistentVolumes, volume("fits", "5Gi"))
    await harness.create(persistentVolumes, volume("small", "1Gi"))
    await harness.create(persistentVolumes, volume("classy", "2Gi", { storageClassName: "fast" }))
    await eventually(() => expect(phase(harness, "classy")).toBe("Available"))
    const { metadata } = await harness.create(persistentVolumeClaims, claim("data", "2Gi"))
    await eventually(() => expect(findClaim(harness, "data").status?.phase).toBe("Bound"))
    expect(findClaim(harness, "data")).toMatchObject({
      metadata: {
        annotations: { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" },
      },
      spec: { volumeName: "fits" },
      status: { capacity: { storage: "5Gi" }, accessModes: ["ReadWriteOnce"] },
    })
    expect(findVolume(harness, "fits")).toMatchObject({
      metadata: { annotations: { "pv.kubernetes.io/bound-by-controller": "yes" } },
      spec: { claimRef: { kind: "PersistentVolumeClaim", namespace: "default", name: "data", uid: metadata.uid } },
      status: { phase: "Bound" },
    })
    await harness.cluster.delete(persistentVolumeClaims, "default", "data")
    await eventually(() => expect(phase(harness, "fits")).toBe("Released"))
  })

  test("chooses another volume than the claims that are bound at the same time", async () => {
    await using harness = await startHarness({ only })
    const names = Array.from({ length: 40 }, (_, n) => `${n}`)
    for (const name of names) await harness.create(persistentVolumes, volume(name, "1Gi"))
    await eventually(() => expect(names.map((name) => phase(harness, name))).toEqual(names.map(() => "Available")))
    await Promise.all(names.map((name) => harness.create(persistentVolumeClaims, claim(name, "1Gi"))))
    await eventually(() => {
      expect(names.map((name) => findClaim(harness, name).status?.phase)).toEqual(names.map(() => "Bound"))
    })
  })

  test("has a volume that another one has chosen and could not have", async () => {
    await using harness = await startHarness({ only })
    await harness.create(persistentVolumes, volume("only", "1Gi"))
    await eventually(() => expect(phase(harness, "only")).toBe("Available"))
    let refused: string | undefined
    const update = harness.cluster.update.bind(harness.cluster)
    using _ = vi.spyOn(harness.cluster, "update").mockImplementation(async (resource, object, options) => {
      const chosenBy = (object as PersistentVolume).spec?.claimRef?.name
      if (resource !== persistentVolumes || chosenBy === undefined) return update(resource, object, options)
      if (chosenBy !== (refused ??= chosenBy)) return update(resource, object, options)
      await eventually(() => expect(eventReasons(harness)).toContain("FailedBinding")) // of the other one
      throw serviceUnavailable("not for this one")
    })
    await Promise.all(["a", "b"].map((name) => harness.create(persistentVolumeClaims, claim(name, "1Gi"))))
    await eventually(() => expect(findVolume(harness, "only").status?.phase).toBe("Bound"))
    expect(findVolume(harness, "only").spec?.claimRef?.name).not.toBe(refused)
  })

  test("that waits is not reconciled for volumes of others", async () => {
    await using harness = await startHarness({ only })
    await harness.create(persistentVolumeClaims, claim("data", "1Gi"))
    await eventually(() => expect(eventReasons(harness)).toEqual(["FailedBinding"]))
    const names = Array.from({ length: 5 }, (_, n) => `v${n}`)
    for (const name of names) {
      await harness.create(persistentVolumes, volume(name, "1Gi", { claimRef: { namespace: "default", name } }))
    }
    await eventually(() => expect(names.map((name) => phase(harness, name))).toEqual(names.map(() => "Available")))
    await harness.create(persistentVolumes, volume("free", "1Gi"))
    await eventually(() => expect(findClaim(harness, "data").spec?.volumeName).toBe("free"))
    // At first, after its own status was written, and when that volume was not available yet.
    await eventually(() => expect(harness.cluster.all(events)).toMatchObject([{ count: 3 }]))
  })

  test("prefers the volume reserved for it, also with a WaitForFirstConsumer class", async () => {
    await using harness = await startHarness({ only })
    await harness.create(storageClasses, {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "local" },
      provisioner: "kubernetes.io/no-provisioner",
      volumeBindingMode: "WaitForFirstConsumer",
    } as KubeObject)
    await harness.create(persistentVolumes, volume("free", "2Gi", { storageClassName: "local" }))
    await eventually(() => expect(phase(harness, "free")).toBe("Available"))
    await harness.create(persistentVolumeClaims, claim("data", "2Gi", { storageClassName: "local" }))
    await eventually(() => expect(eventReasons(harness)).toEqual(["WaitForFirstConsumer"]))
    expect(findClaim(harness, "data").spec?.volumeName).toBeUndefined()
    const claimRef = { namespace: "default", name: "data" }
    await harness.create(persistentVolumes, volume("reserved", "5Gi", { storageClassName: "local", claimRef }))
    await eventually(() => expect(findClaim(harness, "data").status?.phase).toBe("Bound"))
    expect(findClaim(harness, "data").spec?.volumeName).toBe("reserved")
    // A reservation that a user made is kept when the claim is deleted.
    await harness.cluster.delete(persistentVolumeClaims, "default", "data")
    await eventually(() => expect(phase(harness, "reserved")).toBe("Released"))
    expect(findVolume(harness, "reserved").metadata.annotations).toBeUndefined()
  })

  test("that names a volume is bound only to that one", async () => {
    await using harness = await startHarness({ only })
    await harness.create(persistentVolumes, volume("small", "1Gi"))
    await harness.create(persistentVolumes, volume("fits", "2Gi"))
    await harness.create(persistentVolumeClaims, claim("data", "2Gi", { volumeName: "small" }))
    await eventually(() => expect(eventReasons(harness)).toContain("VolumeMismatch"))
    await harness.create(persistentVolumeClaims, claim("other", "2Gi", { volumeName: "fits" }))
    await eventually(() => expect(findClaim(harness, "other").status?.phase).toBe("Bound"))
    await harness.create(persistentVolumeClaims, claim("late", "2Gi", { volumeName: "fits" }))
    await eventually(() => expect(eventReasons(harness)).toContain("FailedBinding"))
    expect(findClaim(harness, "late").status?.phase).not.toBe("Bound")
  })

  test.each([
    ["csi.example.com", {}, "csi.example.com", "Normal ExternalProvisioning: Waiting for a volume to be created"],
    ["kubernetes.io/gce-pd", {}, "pd.csi.storage.gke.io", "external provisioner 'pd.csi.storage.gke.io'"],
    [
      "kubernetes.io/no-provisioner",
      {},
      undefined,
      "Warning ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner",
    ],
    ["kubernetes.io/nfs", {}, undefined, "Warning ProvisioningFailed: no provisionable volume plugin matched"],
    [
      "kubernetes.io/host-path",
      {},
      "kubernetes.io/host-path",
      'Failed to create provisioner: provisioning in volume plugin "kubernetes.io/host-path" is disabled',
    ],
    [
      "kubernetes.io/host-path",
      { mountOptions: ["ro", "x"] },
      "kubernetes.io/host-path",
      'Mount options are not supported by the provisioner but StorageClass "c" has mount options [ro x]',
    ],
  ])("of a class of %s %j gets an event about what it waits for", async (provisioner, more, annotated, text) => {
    await using harness = await startHarness({ only })
    await harness.create(storageClasses, {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "c" },
      provisioner,
      ...more,
    } as KubeObject)
    await harness.create(persistentVolumeClaims, claim("data", "1Gi", { storageClassName: "c" }))
    await eventually(() => {
      const [event] = harness.cluster.all(events)
      expect(`${String(event?.["type"])} ${String(event?.["reason"])}: ${String(event?.["message"])}`).toContain(text)
    })
    const { annotations = {} } = findClaim(harness, "data").metadata
    expect(annotations["volume.kubernetes.io/storage-provisioner"]).toBe(annotated)
    expect(annotations["volume.beta.kubernetes.io/storage-provisioner"]).toBe(annotated)
  })

  test("with a selected node is provisioned even if volumes exist", async () => {
    await using harness = await startHarness({ only })
    await harness.create(storageClasses, {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "c" },
      provisioner: "csi.example.com",
      volumeBindingMode: "WaitForFirstConsumer",
    } as KubeObject)
    await harness.create(persistentVolumes, volume("free", "2Gi", { storageClassName: "c" }))
    await eventually(() => expect(phase(harness, "free")).toBe("Available"))
    const annotations = { "volume.kubernetes.io/selected-node": "n" }
    await harness.create(persistentVolumeClaims, claim("data", "2Gi", { storageClassName: "c" }, { annotations }))
    await eventually(() => expect(eventReasons(harness)).toEqual(["ExternalProvisioning"]))
    expect(phase(harness, "free")).toBe("Available")
  })

  test.each([
    ["found", {}],
    ["named", { volumeName: "fits" }],
  ])("is lost with its volume %s, until the volume exists again", async (_how, spec) => {
    await using harness = await startHarness({ only })
    await harness.create(persistentVolumes, volume("fits", "2Gi"))
    await harness.create(persistentVolumeClaims, claim("data", "2Gi", spec))
    await eventually(() => expect(findClaim(harness, "data").status?.phase).toBe("Bound"))
    await harness.cluster.delete(persistentVolumes, undefined, "fits")
    await eventually(() => expect(findClaim(harness, "data").status?.phase).toBe("Lost"))
    await eventually(() => expect(eventReasons(harness)).toContain("ClaimLost"))
    await harness.create(persistentVolumes, volume("fits", "2Gi"))
    await eventually(() => expect(findClaim(harness, "data").status?.phase).toBe("Bound"))
  })

  test("with classes and volumes of the super cluster is ignored", async () => {
    await using harness = await startHarness({ only })
    const annotations = { [uidAnnotation]: "1" }
    await harness.create(storageClasses, {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "standard", annotations },
      provisioner: "csi.example",
    } as KubeObject)
    await harness.create(persistentVolumes, volume("theirs", "2Gi", {}, { annotations }))
    await harness.create(persistentVolumes, volume("own", "2Gi", { storageClassName: "standard" }))
    await harness.create(persistentVolumeClaims, claim("theirs", "2Gi", { storageClassName: "standard" }))
    const bound = { "pv.kubernetes.io/bind-completed": "yes", [boundInSuperAnnotation]: "yes" }
    await harness.create(
      persistentVolumeClaims,
      claim("shown", "2Gi", { volumeName: "theirs" }, { annotations: bound }),
    )
    await harness.create(persistentVolumeClaims, claim("early", "2Gi", { volumeName: "later" }, { annotations: bound }))
    // By the time a claim created later is reconciled, those before it have been reconciled as well.
    await harness.create(persistentVolumeClaims, claim("none", "2Gi"))
    await eventually(() => expect(eventReasons(harness)).toEqual(["FailedBinding"]))
    for (const name of ["theirs", "shown", "early"]) expect(findClaim(harness, name).status?.phase).toBeUndefined()
    expect(findVolume(harness, "theirs").status).toBeUndefined()
  })
})

test.each(seeds(20))("volumes and claims created and deleted in any order end up in pairs (seed %i)", async (seed) => {
  const random = createRandom(seed)
  await using harness = await startHarness({ only })
  for (let step = 0; step < 40; step++) {
    const name = `n${random(6)}`
    const size = `${1 + random(3)}Gi`
    const isClaim = chance(random, 0.5)
    const resource = isClaim ? persistentVolumeClaims : persistentVolumes
    const namespace = isClaim ? "default" : undefined
    if (harness.cluster.find(resource, namespace, name) !== undefined) {
      if (chance(random, 0.3)) await harness.cluster.delete(resource, namespace, name)
    } else await harness.create(resource, isClaim ? claim(name, size) : volume(name, size))
    if (chance(random, 0.25)) await new Promise((resolve) => setImmediate(resolve))
  }
  await eventually(() => {
    const volumes = harness.cluster.all<PersistentVolume>(persistentVolumes)
    const claims = harness.cluster.all<PersistentVolumeClaim>(persistentVolumeClaims)
    const sizes = { "1Gi": 1, "2Gi": 2, "3Gi": 3 } as Record<string, number>
    for (const each of claims) {
      const of = volumes.find(({ metadata }) => metadata.name === each.spec?.volumeName)
      if (each.status?.phase === "Bound") {
        expect(of?.spec?.claimRef?.uid).toBe(each.metadata.uid)
        expect(of?.status?.phase).toBe("Bound")
      } else if (each.status?.phase === "Lost") {
        expect(of?.spec?.claimRef?.uid).not.toBe(each.metadata.uid)
      } else {
        // No free volume fits the claim.
        const wanted = sizes[each.spec?.resources?.requests?.["storage"] ?? ""] ?? 0
        const free = volumes.filter(({ spec }) => spec?.claimRef === undefined)
        expect(free.filter(({ spec }) => (sizes[spec?.capacity?.["storage"] ?? ""] ?? 0) >= wanted)).toEqual([])
      }
    }
    for (const each of volumes) {
      const uid = each.spec?.claimRef?.uid
      const isUsed = claims.some(
        ({ metadata, spec }) => metadata.uid === uid && spec?.volumeName === each.metadata.name,
      )
      expect(each.status?.phase).toBe(uid === undefined ? "Available" : isUsed ? "Bound" : "Released")
    }
  })
})
