import { expect, test } from "vitest"
import type { KubeObject, PersistentVolume } from "../../apimachinery/object.ts"
import { clusterAnnotation, namespaceAnnotation, uidAnnotation } from "../../apimachinery/tenancy.ts"
import { fakeTenant } from "../testing/fake-tenants.ts"
import { persistentVolume } from "./persistentvolume.ts"
import type { SyncContext } from "./resource-sync.ts"

const volume = (path: string, reclaimPolicy: string): PersistentVolume => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "volume-1" },
  spec: { hostPath: { path }, claimRef: { name: "data" }, persistentVolumeReclaimPolicy: reclaimPolicy },
})

// Nobody may change it, so that every attempt would fail.
test("the source of a volume that is published already stays as it is told, and the rest follows", () => {
  const published = volume("/volumes/ns-123456-a-shop", "Delete")
  expect(persistentVolume.changed(volume("/volumes/shop", "Delete"), published)).toEqual([])
  expect(persistentVolume.changed(volume("/volumes/shop", "Retain"), published)).toEqual([
    { patch: { spec: { persistentVolumeReclaimPolicy: "Retain" } } },
  ])
})

// `claim` and `of` are uids of claims in the tenant, `copy` and `ref` of copies in super.
test.each([
  { what: "the claim's", ref: "copy", copy: { uid: "copy", of: "claim" }, claim: "claim", told: "claim" },
  {
    what: "any claim's of that name",
    ref: undefined,
    copy: { uid: "copy", of: "claim" },
    claim: "claim",
    told: "claim",
  },
  { what: "any claim's, not copied yet", ref: undefined, copy: undefined, claim: "claim", told: "claim" },
  { what: "an earlier claim's", ref: "earlier", copy: { uid: "copy", of: "claim" }, claim: "claim", told: "earlier" },
  { what: "an earlier claim's, not copied yet", ref: "earlier", copy: undefined, claim: "claim", told: "earlier" },
  { what: "an ending copy's", ref: "copy", copy: { uid: "copy", of: "before" }, claim: "claim", told: "before" },
  {
    what: "taken by an ending copy",
    ref: undefined,
    copy: { uid: "copy", of: "before" },
    claim: "claim",
    told: "before",
  },
  { what: "super's own claim's", ref: "copy", copy: { uid: "copy", of: undefined }, claim: "claim", told: "copy" },
])("a volume that is $what is published so", ({ ref, copy, claim, told }) => {
  const tenant = fakeTenant("acme")
  const owner = { [clusterAnnotation]: tenant.clusterKey, [namespaceAnnotation]: "default" }
  const named = (uid: string, annotations = {}): KubeObject =>
    ({ metadata: { name: "data", namespace: "default", uid, annotations } }) as KubeObject
  const inSuper: Record<string, KubeObject | undefined> = {
    namespaces: named("namespace", owner),
    persistentvolumeclaims:
      copy && named(copy.uid, { ...owner, ...(copy.of === undefined ? {} : { [uidAnnotation]: copy.of }) }),
  }
  const view = {
    superObject: ({ resource }: { resource: string }) => inSuper[resource],
    tenantObject: () => named(claim),
  }
  const superVolume = volume("/data", "Retain")
  superVolume.spec!.claimRef = { namespace: "ns", name: "data", ...(ref === undefined ? {} : { uid: ref }) }
  const shown = persistentVolume.toTenant(superVolume, { tenant, view } as unknown as SyncContext)
  expect(shown?.spec?.claimRef?.uid).toBe(told)
})
