// The revisions of a DaemonSet: the current one and the old ones.
// Source: k8s.io/kubernetes/pkg/controller/daemon/update.go (constructHistory).

import type { Pod } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { controllerRevisions, pods as podResource } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import {
  claimRevisions,
  isOf,
  revisionHashLabel,
  updateRevision,
  type ControllerRevision,
  type RevisionOwner,
} from "../history/revisions.ts"

interface History {
  /** Hash of the current template, on its pods. */
  hash: string
  collisionCount: number | undefined
  /** Oldest first. */
  old: readonly ControllerRevision[]
  /** The given pods, with updated labels. */
  pods: readonly Pod[]
}

export async function historyOf(of: RevisionOwner, pods: readonly Pod[]): Promise<History> {
  const { client, owner } = of
  const revisions: ControllerRevision[] = []
  const claimed = await claimRevisions({ ...of, claimsLikePods: true })
  for (const revision of claimed) revisions.push(await withHash(client, revision))
  const { revision, collisionCount } = await updateRevision({
    ...of,
    hashLabel: revisionHashLabel,
    revisions,
    collisionCount: owner.status?.collisionCount,
    isUnique: true,
  })
  const hash = hashIn(revision)
  const duplicates = revisions.filter((other) => isOf(other, owner) && other.metadata.uid !== revision.metadata.uid)
  const old = revisions.filter((other) => !isOf(other, owner))
  if (duplicates.length === 0) return { hash, collisionCount, old, pods }
  return { hash, collisionCount, old, pods: await merge(client, duplicates, pods, hash) }
}

/** A revision from an owner of another kind does not have the hash in the label that DaemonSets use. */
async function withHash(client: KubeClient, revision: ControllerRevision): Promise<ControllerRevision> {
  const { name = "", labels } = revision.metadata
  if (labels?.[revisionHashLabel] !== undefined) return revision
  const metadata = { ...revision.metadata, labels: { ...labels, [revisionHashLabel]: name } }
  return client.update<ControllerRevision>(controllerRevisions, { ...revision, metadata })
}

/** If several revisions have the same template (left by other owners), relabels all pods to one of them and deletes the others. */
async function merge(
  client: KubeClient,
  duplicates: readonly ControllerRevision[],
  pods: readonly Pod[],
  hash: string,
): Promise<Pod[]> {
  const merged: Pod[] = []
  for (const pod of pods) {
    const { namespace, name = "", labels } = pod.metadata
    const patch = { metadata: { labels: { [revisionHashLabel]: hash } } }
    const isRight = labels?.[revisionHashLabel] === hash
    merged.push(isRight ? pod : await client.patch<Pod>(podResource, namespace, name, patch, { type: "merge" }))
  }
  for (const { metadata } of duplicates) {
    try {
      await client.delete(controllerRevisions, metadata.namespace, metadata.name ?? "")
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
  return merged
}

const hashIn = ({ metadata }: ControllerRevision): string => metadata.labels?.[revisionHashLabel] ?? ""
