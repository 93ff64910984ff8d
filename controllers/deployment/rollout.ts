// One round of work on one Deployment: it looks at the ReplicaSets there are, makes the next step, and writes the status.

import { isAlreadyExists } from "../../apimachinery/status.ts"
import { type Deployment, type Pod, type ReplicaSet } from "../../apimachinery/object.ts"
import { deployments, pods, replicaSets } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import { findCondition } from "../conditions.ts"
import type { Actor, ControllerContext } from "../context.ts"
import { jsonEqual } from "../equality.ts"
import { controllerReference, message } from "../pods/pod-control.ts"
import { isFinished } from "../pods/pod-state.ts"
import { hashOf } from "../template-hash.ts"
import { highestRevision, newSetAnnotations, revisionAnnotation } from "./annotations.ts"
import {
  activeOrLatest,
  byRevision,
  desiredReplicasAnnotation,
  isActiveSet,
  isRolling,
  isSaturated,
  maxReplicasAnnotation,
  maxSurge,
  maxUnavailable,
  newSetReplicas,
  proportions,
  replicasOf,
  total,
} from "./replicas.ts"
import {
  condition,
  countedStatus,
  isComplete,
  progressCheckMs,
  progressDeadlineSeconds,
  rolloutStatus,
  withStatusCondition,
  type DeploymentStatus,
} from "./status.ts"
import { byCreation, newReplicaSetOf, sameTemplate, templateHashLabel } from "./template.ts"

const deploymentKind = { apiVersion: "apps/v1", kind: "Deployment" } as const

export class Rollout {
  readonly #ctx: ControllerContext
  readonly #actor: Actor
  readonly #tenant: string
  #deployment: Deployment
  #newSet: ReplicaSet | undefined
  /** Oldest first. */
  #old: ReplicaSet[]

  constructor(
    ctx: ControllerContext,
    actor: Actor,
    tenant: string,
    deployment: Deployment,
    owned: readonly ReplicaSet[],
  ) {
    this.#ctx = ctx
    this.#actor = actor
    this.#tenant = tenant
    this.#deployment = deployment
    this.#newSet = newReplicaSetOf(deployment, owned)
    this.#old = owned.filter((set) => set !== this.#newSet).sort(byCreation)
  }

  /** For one that is being deleted. */
  async writeCounts(): Promise<void> {
    await this.#writeStatus(countedStatus(this.#deployment, this.#all(), this.#newSet, this.#now()))
  }

  /** The size changed, or the rollout is paused: sizes change, but the rollout makes no step. */
  async scale(): Promise<ReconcileResult> {
    await this.#syncRevision(false)
    await this.#scaleProportionally()
    if (this.#deployment.spec?.paused === true) await this.#cleanUp()
    await this.writeCounts()
  }

  /** RollingUpdate: one step up or down, whichever is possible. */
  async roll(): Promise<ReconcileResult> {
    await this.#syncRevision(true)
    if (await this.#growNewSet()) return this.#finish()
    if (await this.#shrinkOldSets()) return this.#finish()
    if (isComplete(this.#deployment, this.#deployment.status ?? {})) await this.#cleanUp()
    return this.#finish()
  }

  /** Recreate: all old pods go before the first new one is made. */
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
    if (isComplete(this.#deployment, this.#deployment.status ?? {})) await this.#cleanUp()
    return this.#finish()
  }

  #now(): number {
    return this.#ctx.clock.now()
  }

  #all(): ReplicaSet[] {
    return this.#newSet === undefined ? this.#old : [...this.#old, this.#newSet]
  }

  /** The new ReplicaSet has the highest revision and the Deployment tells which; makes the set when there is none. */
  async #syncRevision(create: boolean): Promise<void> {
    const deployment = this.#deployment
    const revision = highestRevision(this.#old) + 1n
    const present = this.#newSet
    if (present === undefined) {
      if (create) await this.#createNewSet(revision)
      return
    }
    const annotations = newSetAnnotations(deployment, present, revision)
    const minReadySeconds = deployment.spec?.minReadySeconds ?? 0
    if (
      !jsonEqual(annotations, present.metadata.annotations) ||
      (present.spec?.minReadySeconds ?? 0) !== minReadySeconds
    ) {
      this.#newSet = await this.#client().update<ReplicaSet>(replicaSets, {
        ...present,
        metadata: { ...present.metadata, annotations },
        spec: { ...present.spec, minReadySeconds } as NonNullable<ReplicaSet["spec"]>,
      })
    }
    let status = deployment.status ?? {}
    if (progressDeadlineSeconds(deployment) !== undefined && !findCondition(status.conditions, "Progressing")) {
      const text = `Found new replica set "${present.metadata.name ?? ""}"`
      status = withStatusCondition(status, condition("Progressing", "True", "FoundNewReplicaSet", text, this.#now()))
    }
    await this.#writeRevision(annotations[revisionAnnotation] ?? String(revision), status)
  }

  async #createNewSet(revision: bigint): Promise<void> {
    const deployment = this.#deployment
    const set = this.#newSetObject(revision)
    try {
      this.#newSet = await this.#client().create<ReplicaSet>(replicaSets, set)
    } catch (error) {
      if (isNamespaceTerminating(error)) throw error
      if (!isAlreadyExists(error)) return this.#reportFailedCreate(set, error)
      this.#newSet = await this.#resolveCollision(set, error)
      await this.#writeRevision(String(revision), deployment.status ?? {})
      return
    }
    const { name = "" } = this.#newSet.metadata
    const size = replicasOf(this.#newSet)
    if (size > 0) this.#event("Normal", "ScalingReplicaSet", `Scaled up replica set ${name} from 0 to ${size}`)
    let status = deployment.status ?? {}
    if (progressDeadlineSeconds(deployment) !== undefined) {
      const text = `Created new replica set "${name}"`
      status = withStatusCondition(status, condition("Progressing", "True", "NewReplicaSetCreated", text, this.#now()))
    }
    await this.#writeRevision(String(revision), status)
  }

  #newSetObject(revision: bigint): ReplicaSet {
    const deployment = this.#deployment
    const { template, selector, minReadySeconds } = deployment.spec ?? {}
    const hash = hashOf(template, deployment.status?.collisionCount)
    const labels = { ...template?.metadata?.labels, [templateHashLabel]: hash }
    const { name = "", namespace = "" } = deployment.metadata
    const set = {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: {
        // A fixed name makes creating it twice impossible. Upstream's limit: what pods' generated names can still hold.
        name: `${name.slice(0, 253 - 1 - hash.length)}-${hash}`,
        namespace,
        labels,
        ownerReferences: [controllerReference(deployment, deploymentKind)],
      },
      spec: {
        replicas: 0,
        ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
        selector: { ...selector, matchLabels: { ...selector?.matchLabels, [templateHashLabel]: hash } },
        template: { ...template, metadata: { ...template?.metadata, labels } },
      },
    } as ReplicaSet
    const replicas = newSetReplicas(deployment, [...this.#old, set], set)
    const annotations = { ...newSetAnnotations(deployment, undefined, revision), ...sizeAnnotations(deployment) }
    return {
      ...set,
      metadata: { ...set.metadata, annotations },
      spec: { ...set.spec, replicas } as ReplicaSet["spec"] & {},
    }
  }

  /** The name is taken: by our own set that the cache has not shown yet, or by another template with the same hash. */
  async #resolveCollision(set: ReplicaSet, error: unknown): Promise<ReplicaSet> {
    const { namespace, name = "" } = set.metadata
    const found = await this.#client().get<ReplicaSet>(replicaSets, namespace, name)
    const deployment = this.#deployment
    const isOurs = found.metadata.ownerReferences?.some(
      (owner) => owner.controller === true && owner.uid === deployment.metadata.uid,
    )
    if (isOurs === true && sameTemplate(found.spec?.template, deployment.spec?.template)) return found
    const status = { ...deployment.status, collisionCount: (deployment.status?.collisionCount ?? 0) + 1 }
    await this.#client().update(deployments, { ...deployment, status }, { subresource: "status" })
    throw error
  }

  async #reportFailedCreate(set: ReplicaSet, error: unknown): Promise<never> {
    const text = `Failed to create new replica set "${set.metadata.name ?? ""}": ${message(error)}`
    this.#event("Warning", "ReplicaSetCreateError", text)
    if (progressDeadlineSeconds(this.#deployment) !== undefined) {
      const failed = condition("Progressing", "False", "ReplicaSetCreateError", text, this.#now())
      await this.#writeStatus(withStatusCondition(this.#deployment.status ?? {}, failed))
    }
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
    const deployment = this.#deployment
    const newSet = this.#newSet
    if (newSet === undefined || total(this.#old, replicasOf) === 0) return false
    const minAvailable = replicasOf(deployment) - maxUnavailable(deployment)
    const newUnavailable = replicasOf(newSet) - (newSet.status?.availableReplicas ?? 0)
    let allowed = total(this.#all(), replicasOf) - minAvailable - newUnavailable
    if (allowed <= 0) return false
    let changed = false
    // First what does not work anyway: it would hold up the rollout.
    for (const set of this.#old.filter(isActiveSet)) {
      const unhealthy = Math.min(allowed, replicasOf(set) - (set.status?.availableReplicas ?? 0))
      if (unhealthy <= 0) continue
      this.#replaceOld(set, await this.#resize(set, replicasOf(set) - unhealthy))
      allowed -= unhealthy
      changed = true
    }
    let spare = total(this.#all(), (set) => set.status?.availableReplicas) - minAvailable
    for (const set of this.#old.filter(isActiveSet)) {
      if (spare <= 0) break
      const count = Math.min(spare, replicasOf(set))
      this.#replaceOld(set, await this.#resize(set, replicasOf(set) - count))
      spare -= count
      changed = true
    }
    return changed
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

  /** With `annotate`, also what the set knows of the Deployment's size is brought up to date. */
  async #resize(set: ReplicaSet, size: number, annotate = false): Promise<ReplicaSet> {
    const before = replicasOf(set)
    const annotations = { ...set.metadata.annotations, ...sizeAnnotations(this.#deployment) }
    if (before === size && (!annotate || jsonEqual(annotations, set.metadata.annotations))) return set
    const updated = await this.#client().update<ReplicaSet>(replicaSets, {
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
      informer.byIndex(this.#tenant, "controller", set.metadata.uid ?? "").some((pod) => !isFinished(pod)),
    )
  }

  /** Old sets beyond the history limit go, the oldest revisions first, and only when they are empty. */
  async #cleanUp(): Promise<void> {
    const limit = this.#deployment.spec?.revisionHistoryLimit
    if (limit === undefined) return
    const alive = this.#old.filter((set) => set.metadata.deletionTimestamp === undefined).sort(byRevision)
    for (const set of alive.slice(0, Math.max(0, alive.length - limit))) {
      const isSeen = (set.status?.observedGeneration ?? 0) >= (set.metadata.generation ?? 0)
      if ((set.status?.replicas ?? 0) !== 0 || replicasOf(set) !== 0 || !isSeen) continue
      const { namespace, name = "", uid } = set.metadata
      await this.#client().delete(replicaSets, namespace, name, {
        propagationPolicy: "Background",
        ...(uid === undefined ? {} : { uid }),
      })
    }
  }

  async #finish(): Promise<ReconcileResult> {
    const status = rolloutStatus(this.#deployment, this.#all(), this.#newSet, this.#now())
    if (await this.#writeStatus(status)) return
    const next = progressCheckMs(this.#deployment, status, this.#now())
    return next === undefined ? undefined : { requeueAfterMs: next }
  }

  async #writeRevision(revision: string, status: DeploymentStatus): Promise<void> {
    const deployment = this.#deployment
    const annotations = { ...deployment.metadata.annotations, [revisionAnnotation]: revision }
    if (jsonEqual(annotations, deployment.metadata.annotations) && status === (deployment.status ?? status)) return
    this.#deployment = await this.#client().update<Deployment>(
      deployments,
      { ...deployment, metadata: { ...deployment.metadata, annotations }, status },
      { subresource: "status" },
    )
  }

  /** true: it differed and was written. */
  async #writeStatus(status: DeploymentStatus): Promise<boolean> {
    if (jsonEqual(status, this.#deployment.status)) return false
    this.#deployment = await this.#client().update<Deployment>(
      deployments,
      { ...this.#deployment, status },
      { subresource: "status" },
    )
    return true
  }

  #client(): ReturnType<Actor["client"]> {
    return this.#actor.client(this.#tenant)
  }

  #event(type: "Normal" | "Warning", reason: string, text: string): void {
    this.#actor.event(this.#tenant, this.#deployment, type, reason, text)
  }
}

function sizeAnnotations(deployment: Deployment): Record<string, string> {
  const replicas = replicasOf(deployment)
  return {
    [desiredReplicasAnnotation]: String(replicas),
    [maxReplicasAnnotation]: String(replicas + maxSurge(deployment)),
  }
}
