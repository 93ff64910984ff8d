import { describe, expect, test } from "vitest"
import type { KubeObject, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { uidAnnotation } from "../../apimachinery/tenancy.ts"
import { events, persistentVolumeClaims, persistentVolumes } from "../../client/resources.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"

const only = ["persistentvolume-binder", "persistentvolume-expander"]
const nfs = { nfs: { server: "10.0.0.1", path: "/x" } }

const volume = (name: string, source: object, annotations: Record<string, string> = {}): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, annotations },
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], storageClassName: "", ...source },
  }) as KubeObject

const claim = (name: string): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "default" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "",
      volumeName: name,
      resources: { requests: { storage: "1Gi" } },
    },
  }) as KubeObject

async function boundClaim(harness: Harness, name: string, source: object): Promise<void> {
  await harness.create(persistentVolumes, volume(name, source))
  await harness.create(persistentVolumeClaims, claim(name))
  await eventually(() => expect(claimOf(harness, name)?.status?.phase).toBe("Bound"))
}

const claimOf = ({ cluster }: Harness, name: string): PersistentVolumeClaim | undefined =>
  cluster.find<PersistentVolumeClaim>(persistentVolumeClaims, "default", name)

async function ask(harness: Harness, name: string, storage: string): Promise<void> {
  const patch = { spec: { resources: { requests: { storage } } } }
  await harness.cluster.patch(persistentVolumeClaims, "default", name, patch, { type: "merge" })
}

const claimEvents = ({ cluster }: Harness): unknown[] =>
  cluster
    .all(events)
    .filter((event) => event["reason"] === "ExternalExpanding")
    .map((event) => [(event["involvedObject"] as { name: string }).name, event["message"]])

describe("a claim that requests more storage", () => {
  test("waits for an external controller and gets an event", async () => {
    await using harness = await startHarness({ only })
    await boundClaim(harness, "data", nfs)
    await ask(harness, "data", "2Gi")
    const message = "waiting for an external controller to expand this PVC"
    await eventually(() => expect(claimEvents(harness)).toEqual([["data", message]]))
    expect(claimOf(harness, "data")?.status?.capacity).toEqual({ storage: "1Gi" })
  })

  test("is passed to the migrated driver", async () => {
    await using harness = await startHarness({ only })
    await boundClaim(harness, "disk", { gcePersistentDisk: { pdName: "d" } })
    await ask(harness, "disk", "2Gi")
    const message = "CSI migration enabled for kubernetes.io/gce-pd; waiting for external resizer to expand the pvc"
    await eventually(() => expect(claimEvents(harness)).toEqual([["disk", message]]))
    await eventually(() =>
      expect(claimOf(harness, "disk")?.metadata.annotations).toMatchObject({
        "volume.kubernetes.io/storage-resizer": "pd.csi.storage.gke.io",
      }),
    )
  })

  test("gets no event if its volume is of the super cluster", async () => {
    await using harness = await startHarness({ only })
    const claimRef = { kind: "PersistentVolumeClaim", namespace: "default", name: "data" }
    await harness.create(persistentVolumes, volume("data", { ...nfs, claimRef }, { [uidAnnotation]: "u" }))
    await harness.create(persistentVolumeClaims, claim("data"))
    const status = { phase: "Bound", capacity: { storage: "1Gi" } }
    const options = { type: "merge" as const, subresource: "status" }
    await harness.cluster.patch(persistentVolumeClaims, "default", "data", { status }, options)
    await boundClaim(harness, "own", nfs)
    await ask(harness, "data", "2Gi")
    await ask(harness, "own", "2Gi")
    await eventually(() => expect(claimEvents(harness)).toHaveLength(1))
    expect(claimEvents(harness)).toEqual([["own", "waiting for an external controller to expand this PVC"]])
  })
})
