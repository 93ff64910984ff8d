// Whether Deployments have seen what their pods report. How many pods go into one of their rounds would otherwise be a matter of
// moments, and with it how far each scales its ReplicaSets.

import { setTimeout as delay } from "node:timers/promises"
import {
  controllerOf,
  type Deployment,
  type KubeObject,
  type Pod,
  type ReplicaSet,
} from "../../../apimachinery/object.ts"
import { deployments, pods, replicaSets } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { isActive, isReady } from "../../../controllers/pods/pod-state.ts"

const pollMs = 20
/** As long is waited only for those that follow no more, because they are being deleted. */
const patienceMs = 4_000
/** A ready pod that counts as available after so many seconds is waited for until it does: together with others it would scale them further. */
const soonSeconds = 1

export async function deploymentsFollow(client: KubeClient, namespace: string): Promise<void> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await delay(pollMs)) {
    const upper = (await client.list<Deployment>(deployments, { namespace })).items
    if (upper.length === 0) return
    const sets = (await client.list<ReplicaSet>(replicaSets, { namespace })).items
    // What the pods of one alone report does not scale it.
    if (sets.filter(({ spec, status }) => (spec?.replicas ?? 0) + (status?.replicas ?? 0) > 0).length < 2) return
    const { items } = await client.list<Pod>(pods, { namespace })
    const seen =
      (count: (uid: string) => number) =>
      ({ metadata, spec, status }: Deployment | ReplicaSet) => {
        const ready = count(metadata.uid ?? "")
        const isSoon = (spec?.minReadySeconds ?? 0) <= soonSeconds
        return (status?.readyReplicas ?? 0) === ready && (!isSoon || (status?.availableReplicas ?? 0) === ready)
      }
    const ofSet = (uid: string): number => ownedBy(uid, items).filter((pod) => isActive(pod) && isReady(pod)).length
    const ofDeployment = (uid: string): number =>
      ownedBy(uid, sets).reduce((sum, { metadata }) => sum + ofSet(metadata.uid ?? ""), 0)
    if (sets.every(seen(ofSet)) && upper.every(seen(ofDeployment))) return
  }
}

const ownedBy = <T extends KubeObject>(uid: string, objects: readonly T[]): T[] =>
  objects.filter((object) => controllerOf(object)?.uid === uid)
