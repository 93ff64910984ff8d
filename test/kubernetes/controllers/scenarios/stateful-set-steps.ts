// Steps that scenarios of StatefulSets have in common.

import type { Step } from "../scenario.ts"
import { container, labels, template, workload } from "./steps.ts"

export const stateful = (spec: object = {}): Step =>
  workload("StatefulSet", { serviceName: "web", replicas: 3, ...spec })
export const claims = [
  { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
]

export const patched = (spec: object): Step => ({ patch: ["statefulsets", "web"], with: { spec } })
export const held = { ...template(), metadata: { labels, finalizers: ["example.com/hold"] } }
export const claimNamed = (name: string, metadata: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, ...metadata },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } },
  },
})
export const retention = (whenScaled: string, whenDeleted: string): object => ({
  replicas: 2,
  volumeClaimTemplates: claims,
  persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted },
})
export const podNamed = (name: string, more: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...more },
    spec: { containers: [container("one")] },
  },
})
/** One that nobody owns, newer than those a new set would make. */
export const revisionNamed = (name: string, ofTemplate: object): Step => ({
  create: {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: { name, labels },
    data: { spec: { template: ofTemplate } },
    revision: 7,
  },
})
/** As it was sent, without defaults. Keys are sorted: whoever takes such a revision sorts them, and its data must stay byte by byte. */
export const wholeTemplate = {
  $patch: "replace",
  metadata: { labels },
  spec: { containers: [{ image: "one", name: "c", resources: {} }] },
}
