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
const patienceMs = 2_000

export async function deploymentsFollow(client: KubeClient, namespace: string): Promise<void> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await delay(pollMs)) {
    const upper = (await client.list<Deployment>(deployments, { namespace })).items
    if (upper.length === 0) return
    const sets = (await client.list<ReplicaSet>(replicaSets, { namespace })).items
    // What the pods of one alone report does not scale it.
    if (sets.filter(({ spec, status }) => (spec?.replicas ?? 0) + (status?.replicas ?? 0) > 0).length < 2) return
    const { items } = await client.list<Pod>(pods, { namespace })
    const seen = (count: (uid: string) => number) => (owner: Deployment | ReplicaSet) =>
      (owner.status?.readyReplicas ?? 0) === count(owner.metadata.uid ?? "")
    const ofSet = (uid: string): number => ownedBy(uid, items).filter((pod) => isActive(pod) && isReady(pod)).length
    const ofDeployment = (uid: string): number =>
      ownedBy(uid, sets).reduce((sum, { metadata }) => sum + ofSet(metadata.uid ?? ""), 0)
    if (sets.every(seen(ofSet)) && upper.every(seen(ofDeployment))) return
  }
}

const ownedBy = <T extends KubeObject>(uid: string, objects: readonly T[]): T[] =>
  objects.filter((object) => controllerOf(object)?.uid === uid)
