// The effect of a pod's volume claims on its placement: all of them must exist and be bound, or wait for their first consumer
// (then the chosen node is written to them, and the provisioner creates the volume).

import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "../../apimachinery/object.ts"
import type { Informer } from "../../client/informers/informer.ts"
import { matchesTerm } from "../../apimachinery/core/node-selection.ts"

export const selectedNodeAnnotation = "volume.kubernetes.io/selected-node"

export interface ClaimSources {
  claims: Informer<PersistentVolumeClaim>
  volumes: Informer<PersistentVolume>
  classes: Informer<StorageClass>
}

type ClaimsResult =
  /** No node is possible; contains the message of the pod's condition. */
  | { refused: string }
  /** Nodes must pass `check`; `waiting` claims get their volume once a node is chosen. */
  | { check: (node: Node) => string | undefined; waiting: readonly PersistentVolumeClaim[] }

export function checkClaims(pod: Pod, sources: ClaimSources): ClaimsResult {
  const waiting: PersistentVolumeClaim[] = []
  const bound: PersistentVolume[] = []
  for (const name of claimNames(pod)) {
    const claim = sources.claims.get(pod.metadata.namespace, name)
    if (claim === undefined) return { refused: `persistentvolumeclaim "${name}" not found` }
    if (claim.metadata.deletionTimestamp !== undefined)
      return { refused: `persistentvolumeclaim "${name}" is being deleted` }
    const volume = claim.spec?.volumeName ? sources.volumes.get(undefined, claim.spec.volumeName) : undefined
    if (claim.status?.phase === "Bound" && volume !== undefined) bound.push(volume)
    else if (waitsForConsumer(claim, sources)) waiting.push(claim)
    else return { refused: "pod has unbound immediate PersistentVolumeClaims" }
  }
  return { waiting, check: (node) => (bound.every((volume) => isReachable(volume, node)) ? undefined : conflict) }
}

const conflict = "node(s) didn't match PersistentVolume's node affinity"

function claimNames(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName]
    return ephemeral ? [`${pod.metadata.name ?? ""}-${name}`] : []
  })
}

function waitsForConsumer(claim: PersistentVolumeClaim, { classes }: ClaimSources): boolean {
  if (claim.spec?.volumeName) return false
  const found = classes.get(undefined, claim.spec?.storageClassName ?? "")
  return found?.volumeBindingMode === "WaitForFirstConsumer"
}

function isReachable(volume: PersistentVolume, node: Node): boolean {
  const terms = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms
  return terms === undefined || terms.some((term) => matchesTerm(term, node))
}
