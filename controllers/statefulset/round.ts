// One round over one StatefulSet: what is missing is made, what is too much goes, what is old is replaced; with OrderedReady
// one pod at a time and only while all before it are available.

import { errorMessage } from "../../apimachinery/error-message.ts"
import type { PersistentVolumeClaim, Pod, StatefulSet } from "../../apimachinery/object.ts"
import { isAlreadyExists, isNotFound } from "../../apimachinery/status.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import { persistentVolumeClaims, pods as podResource } from "../../client/resources.ts"
import type { Actor, ControllerContext } from "../context.ts"
import { scaled } from "../deployment/replicas.ts"
import { templateOf, type ControllerRevision } from "../history/revisions.ts"
import { isAvailable, isFinished, isReady, isTerminating } from "../pods/pod-state.ts"
import { slowStart } from "../pods/slow-start.ts"
import { claimOwners } from "./claim-retention.ts"
import {
  claimsOf,
  hasIdentity,
  isInRange,
  ordinalOf,
  podOf,
  replicasOf,
  revisionNameOf,
  startOf,
  withIdentity,
} from "./identity.ts"

export interface RoundOptions {
  ctx: ControllerContext
  actor: Actor
  tenant: string
  set: StatefulSet
  pods: readonly Pod[]
  current: ControllerRevision
  update: ControllerRevision
  collisionCount: number | undefined
}

type StatefulSetStatus = NonNullable<StatefulSet["status"]>

/** Pods made in one round, at most: a set may want two thousand million. Those made bring it back for more. */
const burst = 500

interface Replica {
  ordinal: number
  pod: Pod
  exists: boolean
}

export class Round {
  readonly #options: RoundOptions
  readonly #minReadySeconds: number
  readonly #inOrder: boolean
  /** By ordinal: those that exist, and what is planned to be made. */
  readonly #replicas: readonly Replica[]
  /** Beyond the range, highest ordinal first. */
  readonly #condemned: Replica[]

  constructor(options: RoundOptions) {
    this.#options = options
    const { set, pods } = options
    this.#minReadySeconds = set.spec?.minReadySeconds ?? 0
    this.#inOrder = set.spec?.podManagementPolicy !== "Parallel"
    const existing = new Map<number, Pod>()
    for (const pod of pods) {
      const ordinal = ordinalOf(set, pod)
      if (ordinal !== undefined) existing.set(ordinal, pod)
    }
    this.#replicas = [...this.#inRange(existing)]
    this.#condemned = [...existing]
      .filter(([ordinal]) => !isInRange(set, ordinal))
      .sort(([a], [b]) => b - a)
      .map(([ordinal, pod]) => ({ ordinal, pod, exists: true }))
  }

  *#inRange(existing: ReadonlyMap<number, Pod>): Generator<Replica> {
    const { set } = this.#options
    const end = startOf(set) + replicasOf(set)
    const room = this.#inOrder ? 1 : burst
    let ordinal = startOf(set)
    for (let planned = 0; ordinal < end && planned < room; ordinal++) {
      const pod = existing.get(ordinal)
      if (pod === undefined) planned++
      yield { ordinal, pod: pod ?? this.#planned(ordinal), exists: pod !== undefined }
    }
    const beyond = [...existing].filter(([other]) => other >= ordinal && other < end).sort(([a], [b]) => a - b)
    for (const [other, pod] of beyond) yield { ordinal: other, pod, exists: true }
  }

  async run(): Promise<void> {
    if (!(await this.#forAll(this.#replicas, (replica) => this.#establish(replica)))) return
    for (const replica of this.#condemned) await this.#alignClaims(replica)
    if (!(await this.#forAll(this.#condemned, (replica) => this.#condemn(replica)))) return
    if (this.#options.set.spec?.updateStrategy?.type !== "OnDelete") await this.#replaceOld()
  }

  status(): StatefulSetStatus {
    const { set, current, update, collisionCount } = this.#options
    const all = [...this.#replicas, ...this.#condemned].filter(({ exists }) => exists).map(({ pod }) => pod)
    const living = all.filter((pod) => !isTerminating(pod))
    const names = { current: current.metadata.name ?? "", update: update.metadata.name ?? "" }
    const count = (pods: readonly Pod[], test: (pod: Pod) => boolean): number => pods.filter(test).length
    const ready = count(all, isRunningAndReady)
    const available = count(all, (pod) => this.#isAvailable(pod))
    const updated = count(living, (pod) => revisionNameOf(pod) === names.update)
    const wanted = replicasOf(set)
    const isComplete =
      set.spec?.updateStrategy?.type !== "OnDelete" && updated === wanted && ready === wanted && all.length === wanted
    const currentReplicas = isComplete ? updated : count(living, (pod) => revisionNameOf(pod) === names.current)
    const { conditions } = set.status ?? {}
    return {
      observedGeneration: set.metadata.generation ?? 0,
      replicas: all.length,
      ...(ready === 0 ? {} : { readyReplicas: ready }),
      availableReplicas: available,
      ...(currentReplicas === 0 ? {} : { currentReplicas }),
      ...(updated === 0 ? {} : { updatedReplicas: updated }),
      currentRevision: isComplete ? names.update : names.current,
      updateRevision: names.update,
      collisionCount: collisionCount ?? 0,
      ...(conditions === undefined ? {} : { conditions }),
    }
  }

  #planned(ordinal: number): Pod {
    const { set, current, update } = this.#options
    const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
    const old = rollingUpdate === undefined ? (set.status?.currentReplicas ?? 0) : (rollingUpdate.partition ?? 0)
    const revision = type !== "OnDelete" && ordinal < startOf(set) + old ? current : update
    return podOf(set, templateOf(revision), revision.metadata.name ?? "", ordinal)
  }

  /** In order until one says stop, or all at once. false: the round ends here. */
  async #forAll(replicas: readonly Replica[], step: (replica: Replica) => Promise<boolean>): Promise<boolean> {
    if (this.#inOrder) {
      for (const replica of replicas) if (!(await step(replica))) return false
      return true
    }
    const { actor, tenant } = this.#options
    using pace = actor.pace(tenant, replicas.length)
    const { error } = await slowStart(pace, replicas.length, async (index) => {
      const replica = replicas[index]
      if (replica !== undefined) await step(replica)
    })
    if (error !== undefined) throw error
    return true
  }

  /** false: those after it must wait. */
  async #establish(replica: Replica): Promise<boolean> {
    const { set } = this.#options
    if (isFinished(replica.pod)) {
      // It is made anew when it is gone.
      if (!isTerminating(replica.pod)) await this.#deletePod(replica.pod)
      return false
    }
    if (!replica.exists) {
      await this.#createPod(replica)
      if (this.#inOrder) return false
    }
    if ((replica.pod.status?.phase ?? "Pending") === "Pending") await this.#createClaims(replica)
    if (this.#inOrder && (isTerminating(replica.pod) || !this.#isAvailable(replica.pod))) return false
    if (!hasIdentity(set, replica.pod, replica.ordinal)) {
      const client = this.#options.actor.client(this.#options.tenant)
      replica.pod = await client.update<Pod>(podResource, withIdentity(set, replica.pod, replica.ordinal))
    }
    await this.#alignClaims(replica)
    return true
  }

  /** false: those after it must wait. */
  async #condemn({ pod }: Replica): Promise<boolean> {
    if (isTerminating(pod)) return false
    const unhealthy = [...this.#replicas, ...this.#condemned.toReversed()].find(
      (other) => !this.#isAvailable(other.pod),
    )
    if (this.#inOrder && !this.#isAvailable(pod) && unhealthy?.pod !== pod) return false
    await this.#deletePod(pod)
    return false
  }

  /** From the highest ordinal down, as many at once as may be unavailable. */
  async #replaceOld(): Promise<void> {
    const { set, update } = this.#options
    const { partition = 0, maxUnavailable } = set.spec?.updateStrategy?.rollingUpdate ?? {}
    const allowed = Math.max(1, scaled(maxUnavailable ?? 1, replicasOf(set), true))
    const available = this.#replicas.filter(({ pod }) => !isTerminating(pod) && this.#isAvailable(pod)).length
    let room = allowed - (replicasOf(set) - available)
    // An old pod that does not work would hold up the update that may repair it.
    for (const { pod, ordinal } of this.#replicas.toReversed()) {
      if (ordinal - startOf(set) < partition || room <= 0) return
      if (revisionNameOf(pod) === update.metadata.name || isTerminating(pod)) continue
      await this.#deletePod(pod)
      room--
    }
  }

  #isAvailable(pod: Pod): boolean {
    return isRunningAndReady(pod) && isAvailable(pod, this.#minReadySeconds, this.#options.ctx.clock.now())
  }

  async #createPod(replica: Replica): Promise<void> {
    const { actor, tenant, set } = this.#options
    await this.#createClaims(replica)
    const { name = "" } = replica.pod.metadata
    const what = `Create Pod ${name} in StatefulSet ${set.metadata.name ?? ""}`
    try {
      replica.pod = await actor.client(tenant).create<Pod>(podResource, replica.pod)
    } catch (error) {
      // The cache is behind; its event brings the set back.
      if (isAlreadyExists(error) || isNamespaceTerminating(error)) return
      actor.event(tenant, set, "Warning", "FailedCreate", `${what} failed error: ${errorMessage(error)}`)
      throw error
    }
    replica.exists = true
    actor.event(tenant, set, "Normal", "SuccessfulCreate", `${what} successful`)
  }

  async #createClaims({ ordinal, pod }: Replica): Promise<void> {
    const { ctx, actor, tenant, set } = this.#options
    const informer = ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims)
    for (const claim of claimsOf(set, ordinal)) {
      const { namespace, name = "" } = claim.metadata
      if (informer.get(tenant, namespace, name) !== undefined) continue
      const of = `Pod ${pod.metadata.name ?? ""} in StatefulSet ${set.metadata.name ?? ""}`
      try {
        await actor.client(tenant).create(persistentVolumeClaims, claim)
      } catch (error) {
        if (isAlreadyExists(error) || isNamespaceTerminating(error)) continue
        const text = `Create Claim ${name} for ${of} failed error: ${errorMessage(error)}`
        actor.event(tenant, set, "Warning", "FailedCreate", text)
        throw error
      }
      actor.event(tenant, set, "Normal", "SuccessfulCreate", `Create Claim ${name} ${of} success`)
    }
  }

  /** Claims are owned by what they should go with (persistentVolumeClaimRetentionPolicy). */
  async #alignClaims({ ordinal, pod, exists }: Replica): Promise<void> {
    const { ctx, actor, tenant, set } = this.#options
    if (!exists || set.spec?.persistentVolumeClaimRetentionPolicy === undefined) return
    const informer = ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims)
    for (const { metadata } of claimsOf(set, ordinal)) {
      const claim = informer.get(tenant, metadata.namespace, metadata.name ?? "")
      const owners = claim === undefined ? undefined : claimOwners(claim, set, pod, isInRange(set, ordinal))
      if (claim === undefined || owners === undefined) continue
      const changed = { ...claim, metadata: { ...claim.metadata, ownerReferences: owners } }
      await actor.client(tenant).update(persistentVolumeClaims, changed)
    }
  }

  async #deletePod(pod: Pod): Promise<void> {
    const { actor, tenant, set } = this.#options
    const { namespace, name = "", uid } = pod.metadata
    const what = `Delete Pod ${name} in StatefulSet ${set.metadata.name ?? ""}`
    try {
      await actor.client(tenant).delete(podResource, namespace, name, uid === undefined ? {} : { uid })
    } catch (error) {
      if (isNotFound(error)) return
      actor.event(tenant, set, "Warning", "FailedDelete", `${what} failed error: ${errorMessage(error)}`)
      throw error
    }
    actor.event(tenant, set, "Normal", "SuccessfulDelete", `${what} successful`)
  }
}

function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === "Running" && isReady(pod)
}
