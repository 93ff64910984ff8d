// Volumes and claims, for tests of their binder.

import type { KubeObject, PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { events, persistentVolumeClaims, persistentVolumes } from "../../client/resources.ts"
import type { Harness } from "./harness.ts"

/** The controller that tests of it run. */
export const only = ["persistentvolume-binder"]

export function volume(name: string, storage: string, spec: object = {}, metadata: object = {}): KubeObject {
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, ...metadata },
    spec: { capacity: { storage }, accessModes: ["ReadWriteOnce"], persistentVolumeReclaimPolicy: "Retain", ...spec },
  } as KubeObject
}

export function claim(name: string, storage: string, spec: object = {}, metadata: object = {}): KubeObject {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "default", ...metadata },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage } }, ...spec },
  } as KubeObject
}

export const findVolume = (harness: Harness, name: string): PersistentVolume =>
  harness.cluster.find<PersistentVolume>(persistentVolumes, undefined, name)!

export const findClaim = (harness: Harness, name: string): PersistentVolumeClaim =>
  harness.cluster.find<PersistentVolumeClaim>(persistentVolumeClaims, "default", name)!

export const eventReasons = (harness: Harness): unknown[] => harness.cluster.all(events).map((event) => event["reason"])

export const phase = (harness: Harness, name: string): unknown => findVolume(harness, name).status?.phase
