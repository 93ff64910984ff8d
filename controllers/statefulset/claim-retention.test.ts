import { expect, test } from "vitest"
import type { OwnerReference, PersistentVolumeClaim, Pod, StatefulSet } from "../../apimachinery/object.ts"
import { claimOwners, isForeign, isOfFormerPod } from "./claim-retention.ts"

const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "db-1", uid: "pod" } } as Pod
const flags = { controller: true, blockOwnerDeletion: true }
const ofSet: OwnerReference = { apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "set", ...flags }
const ofPod: OwnerReference = { apiVersion: "v1", kind: "Pod", name: "db-1", uid: "pod", ...flags }
const ofMap: OwnerReference = { apiVersion: "v1", kind: "ConfigMap", name: "map", uid: "map" }
const ofOther: OwnerReference = { ...ofMap, controller: true }
const withSet = { whenDeleted: "Delete" } as const
const withPod = { whenScaled: "Delete" } as const
const withBoth = { ...withSet, ...withPod }

/** `is` is absent if the claim already has the right owners. */
const cases: {
  name: string
  policy?: { whenDeleted?: "Delete"; whenScaled?: "Delete" }
  scaledAway?: true
  has: OwnerReference[]
  is?: OwnerReference[]
}[] = [
  { name: "has no owner without a policy", has: [ofSet, ofMap], is: [ofMap] },
  { name: "is left to another's controller without a policy", has: [ofOther] },
  { name: "belongs to the set that deletes it", policy: withSet, has: [], is: [ofSet] },
  { name: "belongs to the set beside owners that control nothing", policy: withSet, has: [ofMap], is: [ofMap, ofSet] },
  { name: "keeps the order its owners are in", policy: withSet, has: [ofSet, ofMap] },
  { name: "is not taken from another controller", policy: withSet, has: [ofOther] },
  { name: "is given up for another controller", policy: withSet, has: [ofSet, ofOther], is: [ofOther] },
  {
    name: "is controlled by the set that owned it only",
    policy: withSet,
    has: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "set" }],
    is: [ofSet],
  },
  { name: "belongs to no pod that is kept", policy: withPod, has: [ofPod], is: [] },
  { name: "belongs to the pod that is scaled down", policy: withPod, scaledAway: true, has: [], is: [ofPod] },
  { name: "goes from the set to the pod", policy: withBoth, scaledAway: true, has: [ofSet], is: [ofPod] },
  { name: "goes back to the set with the pod", policy: withBoth, has: [ofPod], is: [ofSet] },
  { name: "is left to the former set of the name", policy: withSet, has: [{ ...ofSet, uid: "former" }] },
  { name: "is left to the former pod of the name", policy: withBoth, has: [{ ...ofPod, uid: "former" }] },
]

const setWith = (policy: object | undefined): StatefulSet =>
  ({
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "db", uid: "set" },
    spec: { persistentVolumeClaimRetentionPolicy: policy },
  }) as StatefulSet
const claimOf = (ownerReferences: OwnerReference[]): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data-db-1", ownerReferences },
})

test.each(cases)("a claim $name", ({ policy, scaledAway = false, has, is }) => {
  expect(claimOwners(claimOf(has), setWith(policy), pod, !scaledAway)).toEqual(is)
})

const formerSet = { ...ofSet, uid: "former" }
const formerPod = { ...ofPod, uid: "former" }

test.each([
  ["of the set and its pod", withSet, [ofSet, ofPod], false],
  ["with an owner that controls nothing", withSet, [ofMap], false],
  ["of another controller", withSet, [ofOther], true],
  ["of the former set", withSet, [formerSet], true],
  ["of the former pod", withSet, [formerPod], true],
  ["of another controller, where all are kept", undefined, [ofOther], false],
])("a claim %s under a policy of %j is foreign: %j %s", (_, policy, has, is) => {
  expect(isForeign(claimOf(has), setWith(policy), pod)).toBe(is)
})

test.each([
  ["the former pod", withPod, [formerPod], true],
  ["the pod", withPod, [ofPod], false],
  ["the former pod, where those are kept", withSet, [formerPod], false],
])("a claim of %s under a policy of %j is deleted with the former pod: %j %s", (_, policy, has, is) => {
  expect(isOfFormerPod(claimOf(has), setWith(policy), pod)).toBe(is)
})
