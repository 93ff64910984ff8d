import { expect, test } from "vitest"
import type { PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { boundInSuperAnnotation, uidAnnotation } from "../../apimachinery/tenancy.ts"
import { persistentVolumeClaim } from "./persistentvolumeclaim.ts"
import type { SyncContext } from "./resource-sync.ts"

const completed = { "pv.kubernetes.io/bind-completed": "yes" }
const byController = { ...completed, "pv.kubernetes.io/bound-by-controller": "yes" }
const marked = { ...completed, [boundInSuperAnnotation]: "yes" }
const volume = (annotations: Record<string, string>, uid = "c"): PersistentVolume =>
  ({ metadata: { name: "v", annotations }, spec: { claimRef: { uid } } }) as unknown as PersistentVolume
const claim = (annotations: Record<string, string>, spec: object = { volumeName: "v" }): PersistentVolumeClaim =>
  ({ metadata: { name: "c", namespace: "n", uid: "c", annotations }, spec }) as unknown as PersistentVolumeClaim

test.each([
  { name: "has no volume", annotations: {}, volume: undefined, copy: claim({}), synced: true },
  {
    name: "is bound to a volume of super",
    annotations: marked,
    volume: volume({ [uidAnnotation]: "1" }),
    copy: claim(completed),
    synced: true,
  },
  { name: "is bound to a volume not shown yet", annotations: marked, volume: undefined, copy: undefined, synced: true },
  {
    name: "was bound to a volume of super before claims were marked",
    annotations: completed,
    volume: undefined,
    copy: claim(completed),
    synced: true,
  },
  {
    name: "is bound to the tenant's volume",
    annotations: completed,
    volume: volume({}),
    copy: undefined,
    synced: false,
  },
  { name: "names another's volume", annotations: {}, volume: volume({}, "other"), copy: claim({}), synced: true },
  {
    name: "was bound to what is another's by now",
    annotations: completed,
    volume: volume({}, "other"),
    copy: undefined,
    synced: false,
  },
  {
    name: "was bound in the tenant and has lost its volume",
    annotations: byController,
    volume: undefined,
    copy: undefined,
    synced: false,
  },
  {
    name: "was bound in the tenant to the volume it named and has lost it",
    annotations: completed,
    volume: undefined,
    copy: claim({}),
    synced: false,
  },
])("a claim that $name is synced: $synced", ({ annotations, volume: found, copy, synced }) => {
  const view = { tenantObject: () => found, superObject: () => copy }
  const context = { tenant: { clusterKey: "k" }, view } as unknown as SyncContext
  expect(persistentVolumeClaim.synced?.(claim(annotations), context)).toBe(synced)
})

test.each([
  { name: "found its volume", annotations: {}, spec: {}, told: true },
  { name: "named its volume", annotations: {}, spec: { volumeName: "v" }, told: true },
  { name: "was told before claims were marked", annotations: completed, spec: { volumeName: "v" }, told: true },
  { name: "was told", annotations: marked, spec: { volumeName: "v" }, told: false },
  { name: "names another volume", annotations: {}, spec: { volumeName: "w" }, told: false },
])("a claim that $name is told what super has bound it to: $told", ({ annotations, spec, told }) => {
  const context = { tenant: { clusterKey: "k" } } as unknown as SyncContext
  const steps = persistentVolumeClaim.toTenant?.(claim(annotations, spec), claim(completed), context)
  const patch = { metadata: { annotations: marked }, spec: { volumeName: "v" } }
  expect(steps).toEqual(told ? [{ patch }] : [])
})
