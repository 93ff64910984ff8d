import { expect, test } from "vitest"
import type { PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { boundInSuperAnnotation, expandedToAnnotation, publicLabel, uidAnnotation } from "../../apimachinery/tenancy.ts"
import type { Resource } from "../../client/rest.ts"
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
  { name: "found its volume", annotations: {}, spec: {}, reported: true },
  { name: "named its volume", annotations: {}, spec: { volumeName: "v" }, reported: true },
  { name: "got it before claims were marked", annotations: completed, spec: { volumeName: "v" }, reported: true },
  { name: "already has it", annotations: marked, spec: { volumeName: "v" }, reported: false },
  { name: "names another volume", annotations: {}, spec: { volumeName: "w" }, reported: false },
])("a claim that $name gets the volume that super has bound: $reported", ({ annotations, spec, reported }) => {
  const context = { tenant: { clusterKey: "k" } } as unknown as SyncContext
  const steps = persistentVolumeClaim.toTenant?.(claim(annotations, spec), claim(completed), context)
  const patch = { metadata: { annotations: marked }, spec: { volumeName: "v" } }
  expect(steps).toEqual(reported ? [{ patch }] : [])
})

const sized = (storage: string, capacity?: string, expandedTo?: string): PersistentVolumeClaim =>
  ({
    ...claim(expandedTo === undefined ? {} : { [expandedToAnnotation]: expandedTo }, {
      resources: { requests: { storage } },
    }),
    status: { capacity: { storage: capacity } },
  }) as PersistentVolumeClaim

test.each([
  ["expanded by the tenant", "2Gi", sized("1Gi", "1Gi"), "2Gi"],
  ["the same in other words", "1024Mi", sized("1Gi", "1Gi"), undefined],
  ["expanded by super's administrator", "1Gi", sized("2Gi", "2Gi"), undefined],
  ["being expanded by super's administrator", "1Gi", sized("2Gi", "1Gi"), undefined],
  ["expanded by both", "3Gi", sized("2Gi", "2Gi"), "3Gi"],
  ["larger than the tenant asks for by now, since it got more", "2Gi", sized("3Gi", "3Gi", "3Gi"), undefined],
  ["larger than the tenant asks for by now, and it cannot get that", "2Gi", sized("100Ti", "1Gi", "102400Gi"), "2Gi"],
  ["being expanded by the tenant, and then by super's administrator", "2Gi", sized("4Gi", "1Gi", "2Gi"), undefined],
])("the copy of a claim that is %s", (_what, wanted, copy, expected) => {
  const patch = { spec: { resources: { requests: { storage: expected } } } }
  const context = {} as SyncContext
  expect(persistentVolumeClaim.changed(sized(wanted), copy, context)).toEqual(expected === undefined ? [] : [{ patch }])
  expect(persistentVolumeClaim.annotations?.(sized(wanted), context, copy)).toEqual(
    expected === undefined ? {} : { [expandedToAnnotation]: expected },
  )
})

const snapshot = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s" }
const otherClaim = { kind: "PersistentVolumeClaim", name: "s" }
const ofPrivate = { storageClassName: "private" }
test.each([
  ["nothing", {}, {}, undefined],
  ["another claim", { dataSource: otherClaim, dataSourceRef: otherClaim }, {}, undefined],
  ["a snapshot", { dataSource: snapshot, dataSourceRef: snapshot }, {}, "spec.dataSource: a VolumeSnapshot"],
  ["a populator's object", { dataSourceRef: snapshot }, {}, "spec.dataSourceRef: a VolumeSnapshot"],
  ["another namespace", { dataSourceRef: { ...otherClaim, namespace: "m" } }, {}, "spec.dataSourceRef.namespace: "],
  ["volume attributes", { volumeAttributesClassName: "gold" }, {}, "spec.volumeAttributesClassName: "],
  ["volume attributes once bound", { volumeAttributesClassName: "gold" }, marked, "spec.volumeAttributesClassName: "],
  ["no class", { storageClassName: "" }, {}, undefined],
  ["a class that super does not have", { storageClassName: "manual" }, {}, undefined],
  ["a class for all", { storageClassName: "public" }, {}, undefined],
  ["the default class", { storageClassName: "standard" }, {}, undefined],
  ["a class of super alone", { storageClassName: "private" }, {}, 'spec.storageClassName: "private"'],
  [
    "one by its older annotation",
    {},
    { "volume.beta.kubernetes.io/storage-class": "private" },
    "spec.storageClassName: ",
  ],
  ["a class of super alone, as if it were bound", { storageClassName: "private" }, marked, "spec.storageClassName: "],
  ["a snapshot, as if it were bound", { dataSource: snapshot }, marked, "spec.dataSource: a VolumeSnapshot"],
  ["a class of super alone, for another's volume", { ...ofPrivate, volumeName: "w" }, {}, "spec.storageClassName: "],
  ["a class that was offered when it was bound", { ...ofPrivate, volumeName: "v" }, marked, undefined],
])("a claim that refers to %s", (_what, spec, annotations, expected) => {
  const classes: Record<string, object> = {
    public: { labels: { [publicLabel]: "true" } },
    standard: { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    private: {},
  }
  const claimOf: Record<string, object> = { v: { namespace: "k-n", name: "c" }, w: { namespace: "k-n", name: "d" } }
  const superObject = ({ resource }: Resource, _namespace: unknown, name: string): object | undefined => {
    if (resource === "persistentvolumes") return claimOf[name] && { spec: { claimRef: claimOf[name] } }
    return classes[name] === undefined ? undefined : { metadata: { name, ...classes[name] } }
  }
  const context = { tenant: { clusterKey: "k" }, view: { superObject } } as unknown as SyncContext
  const message = persistentVolumeClaim.unsupported?.(claim(annotations as Record<string, string>, spec), context)
  if (expected === undefined) expect(message).toBeUndefined()
  else expect(message).toContain(expected)
})

test.each([
  ["the tenant made itself", volume({}), "nothing"],
  ["super has shown", volume({ [uidAnnotation]: "1" }), "create"],
  ["nobody has here", undefined, "create"],
])("a claim on a volume that %s", (_what, found, kind) => {
  const context = { view: { tenantObject: () => found } } as unknown as SyncContext
  expect(persistentVolumeClaim.missing?.(claim({}), context).kind).toBe(kind)
})
