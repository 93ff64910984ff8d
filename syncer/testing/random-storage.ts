// Storage of a super cluster at random: who binds claims, expands and reclaims volumes, and offers classes to tenants.

import type { KubeObject, PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { isAlreadyExists } from "../../apimachinery/status.ts"
import { publicLabel } from "../../apimachinery/tenancy.ts"
import { chance, pick, type Random } from "../../apimachinery/testing/random.ts"
import {
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  priorityClasses,
  storageClasses,
} from "../../client/resources.ts"
import type { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { object } from "./harness.ts"

const sizeOf = ({ spec }: PersistentVolumeClaim): string => spec?.resources?.requests?.["storage"] ?? "1Gi"

/** One of them does one thing. */
export async function changeStorage(random: Random, superCluster: FakeCluster): Promise<void> {
  const claims = superCluster.all<PersistentVolumeClaim>(persistentVolumeClaims)
  if (chance(random, 0.2)) return offer(random, superCluster)
  reclaim(superCluster, claims)
  if (claims.length === 0) return
  const claim = pick(random, claims)
  if (claim.spec?.volumeName === undefined) return bind(superCluster, claim)
  const { namespace, name = "" } = claim.metadata
  // An administrator expands it, which takes effect later.
  const requests = { storage: chance(random, 0.3) ? `${10 + random(10)}Gi` : sizeOf(claim) }
  superCluster.edit(persistentVolumeClaims, namespace, name, { spec: { resources: { requests } } })
  if (chance(random, 0.5)) resize(superCluster, claim)
}

/** All that is under way is done. */
export async function finishStorage(superCluster: FakeCluster): Promise<void> {
  const claims = superCluster.all<PersistentVolumeClaim>(persistentVolumeClaims)
  reclaim(superCluster, claims)
  for (const claim of claims) {
    if (claim.spec?.volumeName === undefined) await bind(superCluster, claim)
    else resize(superCluster, claim)
  }
}

async function bind(superCluster: FakeCluster, claim: PersistentVolumeClaim): Promise<void> {
  const { namespace, name = "", uid } = claim.metadata
  const volumeName = `pv-${uid}`
  const capacity = { storage: sizeOf(claim) }
  const spec = { capacity, accessModes: ["ReadWriteOnce"], claimRef: { namespace, name, uid } }
  await superCluster.create(persistentVolumes, object("PersistentVolume", undefined, volumeName, { spec }))
  superCluster.edit(persistentVolumes, undefined, volumeName, { status: { phase: "Bound" } })
  const annotations = { "pv.kubernetes.io/bind-completed": "yes" }
  const status = { phase: "Bound", capacity }
  superCluster.edit(persistentVolumeClaims, namespace, name, {
    metadata: { annotations },
    spec: { volumeName },
    status,
  })
}

/** Volumes do not shrink. */
function resize(superCluster: FakeCluster, { metadata: { namespace, name = "" } }: PersistentVolumeClaim): void {
  const claim = superCluster.find<PersistentVolumeClaim>(persistentVolumeClaims, namespace, name)
  if (claim === undefined) return
  const [has, wants] = [claim.status?.capacity?.["storage"] ?? "0Gi", sizeOf(claim)]
  if (parseInt(wants) <= parseInt(has)) return
  superCluster.edit(persistentVolumeClaims, namespace, name, { status: { capacity: { storage: wants } } })
}

/** Of every second volume. */
const isRetained = (name: string): boolean => name < "pv-8"

function reclaim(superCluster: FakeCluster, claims: readonly KubeObject[]): void {
  const living = new Set(claims.map(({ metadata }) => metadata.uid))
  for (const { metadata, spec, status } of superCluster.all<PersistentVolume>(persistentVolumes)) {
    const { name = "" } = metadata
    if (living.has(spec?.claimRef?.uid) || status?.phase === "Released") continue
    if (isRetained(name)) superCluster.edit(persistentVolumes, undefined, name, { status: { phase: "Released" } })
    else superCluster.remove(persistentVolumes, undefined, name)
  }
}

/** What a tenant does with what it is shown of super: it deletes and changes that, or has something of its own under that name. */
export async function usePublished(random: Random, cluster: FakeCluster): Promise<void> {
  const resource = pick(random, [nodes, storageClasses, priorityClasses, persistentVolumes])
  const [kind, contents] =
    resource === storageClasses ? ["StorageClass", { provisioner: "own" }] : ["PriorityClass", { value: 1 }]
  const name = `class-${random(2)}`
  const isClass = resource === storageClasses || resource === priorityClasses
  if (isClass && cluster.find(resource, undefined, name) === undefined) {
    await cluster.create(resource, object(kind, undefined, name, contents)).catch((error: unknown) => {
      // The syncer may be first with super's.
      if (!isAlreadyExists(error)) throw error
    })
    return
  }
  const all = cluster.all(resource)
  if (all.length === 0) return
  const { metadata } = pick(random, all)
  if (chance(random, 0.4)) await cluster.delete(resource, undefined, metadata.name ?? "")
  else cluster.edit(resource, undefined, metadata.name ?? "", { metadata: { labels: { own: String(random(3)) } } })
}

/** A class comes, goes, or is made another. */
async function offer(random: Random, superCluster: FakeCluster): Promise<void> {
  const [resource, kind] = pick(random, [
    [storageClasses, "StorageClass"],
    [priorityClasses, "PriorityClass"],
  ] as const)
  const name = `class-${random(2)}`
  const present = superCluster.find(resource, undefined, name)
  const labels = { [publicLabel]: pick(random, ["true", "false"]) }
  const contents = resource === storageClasses ? { provisioner: "example.com/any" } : { value: random(9) }
  if (present === undefined) {
    const made = object(kind, undefined, name, contents)
    await superCluster.create(resource, { ...made, metadata: { ...made.metadata, labels } })
  } else if (chance(random, 0.3)) superCluster.remove(resource, undefined, name)
  else superCluster.edit(resource, undefined, name, { metadata: { labels } })
}
