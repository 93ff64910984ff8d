// Runs pods with stable identities in order. Source: k8s.io/kubernetes/pkg/controller/statefulset.

import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import type { PersistentVolumeClaim, Pod, StatefulSet } from "../../apimachinery/object.ts"
import {
  controllerRevisions,
  persistentVolumeClaims,
  pods as podResource,
  statefulSets,
} from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { isUnchangedBy } from "../history/apply.ts"
import {
  claimRevisions,
  hasOrphanedRevisions,
  truncateHistory,
  updateRevision,
  type ControllerRevision,
} from "../history/revisions.ts"
import { claim } from "../pods/claim.ts"
import { enqueueOwner, enqueueOwners, type Owners } from "../pods/owners.ts"
import { nextAvailability } from "../pods/pod-state.ts"
import { roundPauseMs } from "../round-pause.ts"
import { deletesClaims, podsOwning } from "./claim-retention.ts"
import { claimPrefix, isMember, podUsing, revisionNameOf, statefulSetKind } from "./identity.ts"
import { Round, type StatefulSetStatus } from "./round.ts"

/** Those that a round goes through. In order, the next pod waits for each. */
const replicasOf = ({ spec }: StatefulSet): number =>
  spec?.podManagementPolicy === "Parallel" ? (spec.replicas ?? 0) : 0

export function runStatefulSets(ctx: ControllerContext): Promise<void> {
  const sets = ctx.informers.of<StatefulSet>(statefulSets)
  const pods = ctx.informers.of<Pod>(podResource)
  const claims = ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims)
  const revisions = ctx.informers.of<ControllerRevision>(controllerRevisions)
  const controller = new Controller<StatefulSet>(ctx, {
    name: "statefulset",
    primary: sets,
    reads: [pods, claims, revisions],
    statusPauseMs: (set) => roundPauseMs(replicasOf(set)),
  })
  const owners: Owners<StatefulSet> = {
    kind: "StatefulSet",
    all: sets,
    selectorOf: ({ spec }) => spec?.selector,
    sizeOf: replicasOf,
  }
  const enqueue = (tenant: string, pod: Pod): void => enqueueOwner(owners, controller, tenant, pod)
  pods.subscribe({
    added: enqueue,
    updated: (tenant, pod, previous) => enqueueOwners(owners, controller, tenant, pod, previous),
    deleted: enqueue,
  })
  /** The sets with a pod of that claim, and the name of the pod. */
  const usersOf = (tenant: string, claim: PersistentVolumeClaim) =>
    sets.byIndex(tenant, "claims", claimPrefix(claim)).flatMap((set) => {
      const pod = podUsing(set, claim.metadata.name ?? "")
      return pod === undefined ? [] : [{ set, pod }]
    })
  claims.subscribe({
    // The round that has created it could not give it an owner, and its pod may be ready before the claim is seen.
    added(tenant, claim) {
      for (const { set, pod } of usersOf(tenant, claim)) {
        const isUsed = pods.get(tenant, set.metadata.namespace, pod) !== undefined
        if (isUsed && deletesClaims(set)) controller.enqueueObject(tenant, set)
      }
    },
    // A pod may have been waiting until this claim is no longer a former one's. And one that was given to a pod which then stayed, and was
    // taken back with a cache that did not show that, would be deleted with the pod. Whatever else owns it waits for the next round, as
    // upstream: another client may want an owner that the set does not.
    updated(tenant, claim, previous) {
      if (equalIgnoringNulls(podsOwning(claim), podsOwning(previous))) return
      for (const { set } of usersOf(tenant, claim)) controller.enqueueObject(tenant, set)
    },
    // A missing pod may have been waiting for the deletion of this claim.
    deleted(tenant, claim) {
      for (const { set, pod } of usersOf(tenant, claim)) {
        if (pods.get(tenant, set.metadata.namespace, pod) === undefined) controller.enqueueObject(tenant, set)
      }
    },
  })
  return controller.run((key, actor) => reconcile(ctx, actor, key))
}

async function reconcile(ctx: ControllerContext, actor: Actor, key: Key): Promise<ReconcileResult> {
  const { tenant } = key
  const set = ctx.informers.of<StatefulSet>(statefulSets).get(tenant, key.namespace, key.name)
  if (set === undefined) return
  const client = actor.client
  const owned = { client, owner: set, ownerKind: statefulSetKind, ownerResource: statefulSets }
  const revisions = await claimRevisions({ ...owned, informers: ctx.informers, tenant })
  const uid = set.metadata.uid ?? ""
  const informer = ctx.informers.of<Pod>(podResource)
  const pods = await claim<Pod>({
    ...owned,
    resource: podResource,
    selector: selectorFromLabelSelector(set.spec?.selector),
    candidates: [...informer.byIndex(tenant, "controller", uid), ...informer.byIndex(tenant, "orphans", key.namespace)],
    accept: (pod) => isMember(set, pod),
  })
  // A set that orphans its pods has already orphaned its revisions; as upstream, it cannot adopt them again and does nothing more.
  if (set.metadata.deletionTimestamp !== undefined && hasOrphanedRevisions(ctx.informers, tenant, set)) return
  const inUse = new Set(pods.map(revisionNameOf))
  const now = ctx.clock.now()
  try {
    const { revision: update, collisionCount } = await updateRevision({
      ...owned,
      revisions,
      // As upstream, so that a revision that is deleted is made again with its name.
      collisionCount: set.status?.collisionCount ?? 0,
      isAlike: (newest) => isUnchangedBy(set, newest),
    })
    const current = revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update
    for (const { metadata } of [current, update]) inUse.add(metadata.name ?? "")
    const round = new Round({ ctx, actor, set, pods, current, update, collisionCount, now })
    await carryOut(client, set, round)
  } finally {
    // Also if no revision could be created: those that are forgotten make room for it.
    const old = revisions.filter(({ metadata }) => !inUse.has(metadata.name ?? ""))
    await truncateHistory(client, set, old)
  }
  const next = nextAvailability(pods, set.spec?.minReadySeconds ?? 0, now)
  return next === undefined ? undefined : { requeueAfterMs: next - ctx.clock.now() }
}

async function carryOut(client: KubeClient, set: StatefulSet, round: Round): Promise<void> {
  let failure: unknown
  try {
    if (set.metadata.deletionTimestamp === undefined) await round.run()
  } catch (error) {
    failure = error
  }
  const status = round.status()
  if (isOutdated(set, status) || isReplacedMeanwhile(set, status, round)) {
    await client.update(statefulSets, { ...set, status }, { subresource: "status" })
  }
  if (failure !== undefined) throw failure
}

/** What others wrote into the status stays until something changes that is observed. */
function isOutdated({ status: before = {} as StatefulSetStatus }: StatefulSet, status: StatefulSetStatus): boolean {
  if ((status.observedGeneration ?? 0) > (before.observedGeneration ?? 0)) return true
  const differs = (field: "currentRevision" | "updateRevision" | (typeof counts)[number]): boolean =>
    (status[field] || undefined) !== (before[field] || undefined)
  return [...counts, "currentRevision" as const, "updateRevision" as const].some(differs)
}

/** Upstream writes once before it has observed the pods that it creates, which also replaces what others wrote. */
const isReplacedMeanwhile = (set: StatefulSet, status: StatefulSetStatus, round: Round): boolean =>
  isOutdated(set, round.status({ withCreated: false })) && !equalIgnoringNulls(status, set.status)

const counts = ["replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas"] as const
