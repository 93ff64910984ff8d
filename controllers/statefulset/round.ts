// One reconcile of one StatefulSet: creates missing pods, deletes surplus pods, replaces outdated pods. With OrderedReady, one pod
// at a time, and only while all pods before it are available.

import type { Pod, StatefulSet } from "../../apimachinery/object.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { applied } from "../history/apply.ts"
import type { ControllerRevision } from "../history/revisions.ts"
import { isAvailable, isFinished, isReady, isTerminating } from "../pods/pod-state.ts"
import { slowStart } from "../pods/slow-start.ts"
import { isInRange, ordinalOf, podOf, replicasOf, revisionNameOf, startOf } from "./identity.ts"
import { PodControl, type Replica } from "./pod-control.ts"

interface RoundOptions {
  ctx: ControllerContext
  actor: Actor
  set: StatefulSet
  pods: readonly Pod[]
  current: ControllerRevision
  update: ControllerRevision
  collisionCount: number | undefined
  now: number
}

export type StatefulSetStatus = NonNullable<StatefulSet["status"]>

/** Limit of pods created in one reconcile, as a set may ask for two billion. Events of the created pods continue the work. */
const burst = 500

export class Round {
  readonly #options: RoundOptions
  readonly #control: PodControl
  readonly #minReadySeconds: number
  readonly #inOrder: boolean
  /** By ordinal: existing pods, and pods that are to be created. */
  readonly #replicas: readonly Replica[]
  /** Pods beyond the range, highest ordinal first. */
  readonly #condemned: Replica[]
  /** A pod being replaced by the new revision. It does not count as one of the current revision, or that would be recreated. */
  #replaced: Pod | undefined

  constructor(options: RoundOptions) {
    this.#options = options
    this.#control = new PodControl(options)
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
    await this.#forAll(this.#condemned, (replica) => this.#release(replica))
    if (!(await this.#forAll(this.#condemned, (replica) => this.#deleteCondemned(replica)))) return
    if (this.#options.set.spec?.updateStrategy?.type !== "OnDelete") await this.#replaceOld()
  }

  /** Default: with the pods that it has created, which are not observed yet. */
  status({ withCreated = true } = {}): StatefulSetStatus {
    const { set, current, update, collisionCount } = this.#options
    const all = [...this.#replicas, ...this.#condemned]
      .filter(({ exists, isCreated = false }) => exists && (withCreated || !isCreated))
      .map(({ pod }) => pod)
    const living = all.filter((pod) => !isTerminating(pod) && pod !== this.#replaced)
    const names = { current: current.metadata.name ?? "", update: update.metadata.name ?? "" }
    const count = (pods: readonly Pod[], test: (pod: Pod) => boolean): number => pods.filter(test).length
    const ready = count(all, isRunningAndReady)
    const available = count(all, (pod) => this.#isAvailable(pod))
    const updated = count(living, (pod) => revisionNameOf(pod) === names.update)
    const wanted = replicasOf(set)
    const isComplete =
      set.spec?.updateStrategy?.type !== "OnDelete" && updated === wanted && ready === wanted && all.length === wanted
    const currentReplicas = isComplete ? updated : count(living, (pod) => revisionNameOf(pod) === names.current)
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
    }
  }

  #planned(ordinal: number): Pod {
    const { set, current, update } = this.#options
    const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
    const old = rollingUpdate === undefined ? (set.status?.currentReplicas ?? 0) : (rollingUpdate.partition ?? 0)
    const revision = type !== "OnDelete" && ordinal < startOf(set) + old ? current : update
    return podOf(set, applied(set, revision), revision.metadata.name ?? "", ordinal)
  }

  /** In order until one step returns false, or all in parallel. Returns false if the reconcile ends here. */
  async #forAll(replicas: readonly Replica[], step: (replica: Replica) => Promise<boolean>): Promise<boolean> {
    if (this.#inOrder) {
      for (const replica of replicas) if (!(await step(replica))) return false
      return true
    }
    using pace = this.#options.actor.pace(replicas.length)
    const call = async (index: number): Promise<void> => {
      const replica = replicas[index]
      if (replica !== undefined) await step(replica)
    }
    const { error } = await slowStart(pace, replicas.length, call, { isWhole: true })
    if (error !== undefined) throw error
    return true
  }

  /** Returns false if the pods after it must wait. */
  async #establish(replica: Replica): Promise<boolean> {
    const control = this.#control
    if (isFinished(replica.pod)) {
      // It is recreated once it is gone.
      if (!isTerminating(replica.pod)) await control.delete(replica.pod)
      return false
    }
    if (!replica.exists) {
      if (!control.mustWait(replica)) await control.create(replica)
      return false
    }
    if ((replica.pod.status?.phase ?? "Pending") === "Pending") await control.provideClaims(replica)
    if (this.#inOrder && (isTerminating(replica.pod) || !this.#isAvailable(replica.pod))) return false
    await control.update(replica)
    return true
  }

  async #release(replica: Replica): Promise<boolean> {
    await this.#control.releaseClaims(replica)
    return true
  }

  /** Returns false if the pods after it must wait. */
  async #deleteCondemned({ pod }: Replica): Promise<boolean> {
    if (isTerminating(pod)) return false
    if (this.#inOrder && !this.#isAvailable(pod) && this.#firstUnavailable() !== pod) return false
    await this.#control.delete(pod)
    return false
  }

  /** From the highest ordinal down, each one when those above it are available. */
  async #replaceOld(): Promise<void> {
    const { set, update } = this.#options
    // Missing pods are created first.
    if (this.#replicas.length < replicasOf(set)) return
    const { partition = 0 } = set.spec?.updateStrategy?.rollingUpdate ?? {}
    for (const { pod, ordinal } of this.#replicas.toReversed()) {
      if (ordinal - startOf(set) < partition) return
      // Even if the pod is not available: waiting for it would block the update that may repair it.
      if (revisionNameOf(pod) !== update.metadata.name && !isTerminating(pod)) {
        await this.#control.delete(pod)
        this.#replaced = pod
        return
      }
      if (this.#isUnavailable(pod)) return
    }
  }

  #firstUnavailable(): Pod | undefined {
    const all = [...this.#replicas, ...this.#condemned.toReversed()]
    return all.find(({ pod }) => this.#isUnavailable(pod))?.pod
  }

  /** Whatever its phase, as upstream. */
  #isUnavailable(pod: Pod): boolean {
    return isTerminating(pod) || !isAvailable(pod, this.#minReadySeconds, this.#options.now)
  }

  #isAvailable(pod: Pod): boolean {
    return isRunningAndReady(pod) && isAvailable(pod, this.#minReadySeconds, this.#options.now)
  }
}

function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === "Running" && isReady(pod)
}
