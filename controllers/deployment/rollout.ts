// One sync of a Deployment: examines its ReplicaSets, makes the next step, and writes the status.

import { errorMessage } from "../../apimachinery/error-message.ts"
import { isAlreadyExists } from "../../apimachinery/status.ts"
import type { Deployment, Pod, ReplicaSet } from "../../apimachinery/object.ts"
import { deployments, pods, replicaSets } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import { findCondition } from "../conditions.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { isFinished } from "../pods/pod-state.ts"
import { hasReadableRevision, newSetAnnotations, nextRevision, revisionAnnotation } from "./annotations.ts"
import { DeploymentDraft } from "./draft.ts"
import { newSetFor, sizeAnnotations } from "./new-set.ts"
import {
  activeOrLatest,
  forgottenSets,
  isActiveSet,
  isRolling,
  isSaturated,
  newSetReplicas,
  proportions,
  replicasOf,
  shrinkingSteps,
  total,
} from "./replicas.ts"
import { countedStatus, isComplete, progressCheckMs, progressDeadlineSeconds, rolloutStatus } from "./status.ts"
import { askedRevision, rollBack } from "./rollback.ts"
import { byCreation, newReplicaSetOf, sameTemplate } from "./template.ts"

export class Rollout {
  readonly #ctx: ControllerContext
  readonly #actor: Actor
  readonly #client: KubeClient
  readonly #draft: DeploymentDraft
  #newSet: ReplicaSet | undefined
  /** Oldest first. */
  #old: ReplicaSet[]

  constructor(ctx: ControllerContext, actor: Actor, deployment: Deployment, owned: readonly ReplicaSet[]) {
    this.#ctx = ctx
    this.#actor = actor
    this.#client = actor.client
    this.#draft = new DeploymentDraft(this.#client, () => ctx.clock.now(), deployment)
    this.#newSet = newReplicaSetOf(deployment, owned)
    this.#old = owned.filter((set) => set !== this.#newSet).sort(byCreation)
  }

  /** For a Deployment that is being deleted. */
  async observe(): Promise<void> {
    await this.#syncRevision(false)
    await this.#writeCounts()
  }

  /** The Deployment was resized or is paused: changes sizes without a step of the rollout. */
  async scale(): Promise<ReconcileResult> {
    await this.#syncRevision(false)
    await this.#scaleProportionally()
    const isOnHold = this.#deployment.spec?.paused === true && askedRevision(this.#deployment) === undefined
    if (isOnHold) await this.#cleanUp()
    await this.#writeCounts()
  }

  /** Restores a previous template, which the next syncs roll out. */
  async rollBack(revision: bigint): Promise<void> {
    await this.#syncRevision(true)
    await this.#draft.write(this.#draft.status)
    const { deployment, type, reason, message } = rollBack(this.#deployment, this.#all(), revision)
    await this.#client.update<Deployment>(deployments, deployment)
    this.#event(type, reason, message)
  }

  /** RollingUpdate: one step up or down, whichever is possible. */
  async roll(): Promise<ReconcileResult> {
    await this.#syncRevision(true)
    if (await this.#growNewSet()) return this.#finish()
    let failure: unknown
    const hasShrunk = await this.#shrinkOldSets().catch((error: unknown) => {
      failure = error
      return false
    })
    if (!hasShrunk && isComplete(this.#deployment, this.#draft.status)) await this.#cleanUp()
    const result = await this.#finish()
    // After the status: old sets that cannot be shrunk do not keep it from being written.
    if (failure !== undefined) throw failure
    return result
  }

  /** Recreate: all old pods are deleted before the first new one is created. */
  async recreate(): Promise<ReconcileResult> {
    await this.#syncRevision(false)
    const active = this.#old.filter(isActiveSet)
    if (active.length > 0) {
      for (const set of active) await this.#resize(set, 0)
      return this.#finish()
    }
    if (this.#oldPodsRun()) return this.#finish()
    await this.#syncRevision(true)
    if (this.#newSet !== undefined) await this.#resize(this.#newSet, replicasOf(this.#deployment))
    if (isComplete(this.#deployment, this.#draft.status)) await this.#cleanUp()
    return this.#finish()
  }

  get #deployment(): Deployment {
    return this.#draft.deployment
  }

  #now(): number {
    return this.#ctx.clock.now()
  }

  #all(): ReplicaSet[] {
    return this.#newSet === undefined ? this.#old : [...this.#old, this.#newSet]
  }

  /** Gives the new ReplicaSet the highest revision and records it on the Deployment; with `create`, creates a missing set. */
  async #syncRevision(create: boolean): Promise<void> {
    const deployment = this.#deployment
    const revision = nextRevision(this.#old)
    const present = this.#newSet
    if (present === undefined) {
      if (create) await this.#createNewSet(revision)
      return
    }
    const annotations = newSetAnnotations(deployment, present, revision)
    const minReadySeconds = deployment.spec?.minReadySeconds ?? 0
    const noted = { ...present, metadata: { ...present.metadata, annotations } }
    const isNoted = equalIgnoringNulls(annotations, present.metadata.annotations) || !hasReadableRevision(present)
    if (isNoted && (present.spec?.minReadySeconds ?? 0) === minReadySeconds) {
      // Annotations that are not written for their own sake are written with the next size.
      this.#newSet = noted
    } else {
      const spec = { ...present.spec, minReadySeconds } as NonNullable<ReplicaSet["spec"]>
      this.#newSet = await this.#client.update<ReplicaSet>(replicaSets, { ...noted, spec })
    }
    const { status } = this.#draft
    const text = `Found new replica set "${present.metadata.name ?? ""}"`
    const isReported = findCondition(status.conditions, "Progressing") !== undefined
    const reported = isReported ? status : this.#draft.progressing("True", "FoundNewReplicaSet", text)
    this.#draft.note(annotations[revisionAnnotation] ?? "", reported)
  }

  async #createNewSet(revision: bigint): Promise<void> {
    const set = await newSetFor(this.#deployment, this.#old, revision)
    try {
      this.#newSet = await this.#client.create<ReplicaSet>(replicaSets, set)
    } catch (error) {
      if (isNamespaceTerminating(error)) throw error
      if (!isAlreadyExists(error)) return this.#reportFailedCreate(set, error)
      this.#newSet = await this.#resolveCollision(set, error)
      this.#draft.note(String(revision), this.#draft.status)
      return
    }
    const { name = "" } = this.#newSet.metadata
    const size = replicasOf(this.#newSet)
    if (size > 0) this.#event("Normal", "ScalingReplicaSet", `Scaled up replica set ${name} from 0 to ${size}`)
    const status = this.#draft.progressing("True", "NewReplicaSetCreated", `Created new replica set "${name}"`)
    this.#draft.note(String(revision), status)
  }

  /** The name is taken, either by our own set that the cache does not show yet, or by another template with the same hash. */
  async #resolveCollision(set: ReplicaSet, error: unknown): Promise<ReplicaSet> {
    const { namespace, name = "" } = set.metadata
    const found = await this.#client.get<ReplicaSet>(replicaSets, namespace, name)
    const deployment = this.#deployment
    const isOurs = found.metadata.ownerReferences?.some(
      (owner) => owner.controller === true && owner.uid === deployment.metadata.uid,
    )
    if (isOurs === true && sameTemplate(found.spec?.template, deployment.spec?.template)) return found
    const status = { ...deployment.status, collisionCount: (deployment.status?.collisionCount ?? 0) + 1 }
    await this.#client.update(deployments, { ...deployment, status }, { subresource: "status" })
    throw error
  }

  async #reportFailedCreate(set: ReplicaSet, error: unknown): Promise<never> {
    const text = `Failed to create new replica set "${set.metadata.name ?? ""}": ${errorMessage(error)}`
    this.#event("Warning", "ReplicaSetCreateError", text)
    if (progressDeadlineSeconds(this.#deployment) !== undefined)
      await this.#draft.write(this.#draft.progressing("False", "ReplicaSetCreateError", text))
    throw error
  }

  async #growNewSet(): Promise<boolean> {
    const set = this.#newSet
    if (set === undefined) return false
    const wanted = replicasOf(this.#deployment)
    if (replicasOf(set) === wanted) return false
    const size = replicasOf(set) > wanted ? wanted : newSetReplicas(this.#deployment, this.#all(), set)
    if (size === replicasOf(set)) return false
    this.#newSet = await this.#resize(set, size)
    return true
  }

  async #shrinkOldSets(): Promise<boolean> {
    const steps = shrinkingSteps(this.#deployment, this.#newSet, this.#old)
    for (const { at, size } of steps) {
      const set = this.#old[at]
      if (set !== undefined) this.#replaceOld(set, await this.#resize(set, size))
    }
    return steps.length > 0
  }

  async #scaleProportionally(): Promise<void> {
    const deployment = this.#deployment
    const only = activeOrLatest(this.#newSet, this.#old)
    if (only !== undefined) {
      if (replicasOf(only) !== replicasOf(deployment))
        this.#replace(only, await this.#resize(only, replicasOf(deployment)))
      return
    }
    if (isSaturated(deployment, this.#newSet)) {
      for (const set of this.#old.filter(isActiveSet)) this.#replace(set, await this.#resize(set, 0))
      return
    }
    if (!isRolling(deployment)) return
    for (const [set, size] of proportions(deployment, this.#all().filter(isActiveSet))) {
      this.#replace(set, await this.#resize(set, size, true))
    }
  }

  /** With `annotate`, also updates the size annotations of the set. */
  async #resize(set: ReplicaSet, size: number, annotate = false): Promise<ReplicaSet> {
    const before = replicasOf(set)
    const annotations = { ...set.metadata.annotations, ...sizeAnnotations(this.#deployment) }
    if (before === size && (!annotate || equalIgnoringNulls(annotations, set.metadata.annotations))) return set
    const updated = await this.#client.update<ReplicaSet>(replicaSets, {
      ...set,
      metadata: { ...set.metadata, annotations },
      spec: { ...set.spec, replicas: size } as NonNullable<ReplicaSet["spec"]>,
    })
    if (before !== size) {
      const direction = before < size ? "up" : "down"
      const { name = "" } = set.metadata
      this.#event("Normal", "ScalingReplicaSet", `Scaled ${direction} replica set ${name} from ${before} to ${size}`)
    }
    return updated
  }

  #replace(set: ReplicaSet, updated: ReplicaSet): void {
    if (set === this.#newSet) this.#newSet = updated
    else this.#replaceOld(set, updated)
  }

  #replaceOld(set: ReplicaSet, updated: ReplicaSet): void {
    this.#old = this.#old.map((other) => (other === set ? updated : other))
  }

  #oldPodsRun(): boolean {
    if (total(this.#old, (set) => set.status?.replicas) > 0) return true
    const informer = this.#ctx.informers.of<Pod>(pods)
    return this.#old.some((set) =>
      informer.byIndex(this.#actor.tenant, "controller", set.metadata.uid ?? "").some((pod) => !isFinished(pod)),
    )
  }

  async #cleanUp(): Promise<void> {
    for (const { metadata } of forgottenSets(this.#deployment, this.#old)) {
      const { namespace, name = "", uid } = metadata
      await this.#client.delete(replicaSets, namespace, name, {
        propagationPolicy: "Background",
        ...(uid === undefined ? {} : { uid }),
      })
    }
  }

  async #writeCounts(): Promise<void> {
    await this.#draft.write(countedStatus(this.#deployment, this.#all(), this.#newSet, this.#now()))
  }

  async #finish(): Promise<ReconcileResult> {
    const status = rolloutStatus(this.#deployment, this.#all(), this.#newSet, this.#now())
    if (await this.#draft.write(status)) return
    const next = progressCheckMs(this.#deployment, status, this.#now())
    return next === undefined ? undefined : { requeueAfterMs: next }
  }

  #event(type: "Normal" | "Warning", reason: string, text: string): void {
    this.#actor.event(this.#deployment, type, reason, text)
  }
}
