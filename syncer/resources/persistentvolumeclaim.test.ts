import { expect, test } from "vitest"
import type { PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { uidAnnotation } from "../../apimachinery/tenancy.ts"
import { persistentVolumeClaim } from "./persistentvolumeclaim.ts"
import type { SyncContext } from "./resource-sync.ts"

const completed = { "pv.kubernetes.io/bind-completed": "yes" }
const byController = { ...completed, "pv.kubernetes.io/bound-by-controller": "yes" }
const volume = (annotations: Record<string, string>, uid = "c"): PersistentVolume =>
  ({ metadata: { name: "v", annotations }, spec: { claimRef: { uid } } }) as unknown as PersistentVolume

test.each([
  { name: "has no volume", annotations: {}, volume: undefined, synced: true },
  {
    name: "is bound to a volume of super",
    annotations: completed,
    volume: volume({ [uidAnnotation]: "1" }),
    synced: true,
  },
  { name: "is bound to a volume not shown yet", annotations: completed, volume: undefined, synced: true },
  { name: "is bound to the tenant's volume", annotations: completed, volume: volume({}), synced: false },
  { name: "names another's volume", annotations: completed, volume: volume({}, "other"), synced: true },
  {
    name: "was bound in the tenant and has lost its volume",
    annotations: byController,
    volume: undefined,
    synced: false,
  },
])("a claim that $name is synced: $synced", ({ annotations, volume: found, synced }) => {
  const claim = { metadata: { name: "c", uid: "c", annotations }, spec: { volumeName: "v" } }
  const context = { view: { tenantObject: () => found } } as unknown as SyncContext
  expect(persistentVolumeClaim.synced?.(claim as unknown as PersistentVolumeClaim, context)).toBe(synced)
})
