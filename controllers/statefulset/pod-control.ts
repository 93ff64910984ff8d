// Writes to a StatefulSet's pods and to their claims, and the Events about these writes.
// Source: k8s.io/kubernetes/pkg/controller/statefulset/stateful_pod_control.go.

import { errorMessage } from "../../apimachinery/error-message.ts"
import type { OwnerReference, PersistentVolumeClaim, Pod, StatefulSet } from "../../apimachinery/object.ts"
import { hasReason, isAlreadyExists, isNotFound, unexplained } from "../../apimachinery/status.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import { persistentVolumeClaims, pods as podResource } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { claimOwners, isForeign, isOfFormerPod } from "./claim-retention.ts"
import { claimsOf, hasIdentity, hasStorage, isInRange, withIdentity, withStorage } from "./identity.ts"

export interface Replica {
  ordinal: number
  pod: Pod
  /** false if the pod is still to be created. */
  exists: boolean
  /** It exists since this reconcile. */
  isCreated?: true
}

interface PodControlOptions {
  ctx: ControllerContext
  actor: Actor
  set: StatefulSet
}

type Verb = "Create" | "Update" | "Delete"

export class PodControl {
  readonly #options: PodControlOptions
  readonly #client: KubeClient

  constructor(options: PodControlOptions) {
    this.#options = options
    this.#client = options.actor.client
  }

  /** Claims that are deleted with an earlier pod of the same name still exist. */
  mustWait(replica: Replica): boolean {
    return this.#claims(replica).some((claim) => isOfFormerPod(claim, this.#options.set, replica.pod))
  }

  /** Throws if the API rejects the pod or one of its claims. */
  async create(replica: Replica): Promise<void> {
    const { pod } = replica
    await this.#attempt("Create", pod, () => this.#createClaims(replica))
    let failure: unknown
    try {
      replica.pod = await this.#client.create<Pod>(podResource, pod)
      replica.exists = true
      replica.isCreated = true
    } catch (error) {
      // The pod belongs to another owner, or the cache is stale.
      if (isAlreadyExists(error)) throw error
      failure = error
    }
    // Also if the pod was not created: its claims may exist long before it does.
    await this.#attempt("Update", pod, () => this.#alignClaims(replica))
    this.#recordEvent("Create", pod, failure)
    if (failure !== undefined) throw failure
  }

  /** For a pod that is still Pending, possibly because its claims are missing. */
  async provideClaims(replica: Replica): Promise<void> {
    await this.#createClaims(replica)
    await this.#attempt("Update", replica.pod, () => this.#alignClaims(replica))
  }

  /** Corrects labels, volumes and the owners of claims. */
  async update(replica: Replica): Promise<void> {
    const { set } = this.#options
    const { ordinal, pod } = replica
    let wanted = hasIdentity(pod) ? pod : withIdentity(pod, ordinal)
    if (!hasStorage(set, pod, ordinal)) {
      wanted = withStorage(set, wanted, ordinal)
      await this.#attempt("Update", pod, () => this.#createClaims(replica))
    }
    const areAligned = this.#areAligned(replica)
    if (!areAligned) await this.#attempt("Update", pod, () => this.#alignClaims(replica))
    if (wanted !== pod) {
      replica.pod = await this.#attempt("Update", pod, () => this.#client.update<Pod>(podResource, wanted))
    } else if (areAligned) return
    this.#recordEvent("Update", pod)
  }

  /** For a pod beyond the range of the set. */
  async releaseClaims(replica: Replica): Promise<void> {
    if (!this.#areAligned(replica)) await this.#alignClaims(replica)
  }

  async delete(pod: Pod): Promise<void> {
    const { namespace, name = "", uid } = pod.metadata
    try {
      await this.#client.delete(podResource, namespace, name, uid === undefined ? {} : { uid })
    } catch (error) {
      if (isNotFound(error)) return
      this.#recordEvent("Delete", pod, error)
      throw error
    }
    this.#recordEvent("Delete", pod)
  }

  /** Creates all missing claims, even if some of them fail. */
  async #createClaims({ ordinal, pod }: Replica): Promise<void> {
    const { ctx, actor, set } = this.#options
    const informer = ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims)
    const of = `Pod ${pod.metadata.name ?? ""} in StatefulSet ${set.metadata.name ?? ""}`
    const failures: string[] = []
    let cause: unknown
    for (const claim of claimsOf(set, ordinal)) {
      const { namespace, name = "" } = claim.metadata
      const present = informer.get(actor.tenant, namespace, name)
      if (present !== undefined) {
        if (present.metadata.deletionTimestamp !== undefined) failures.push(`pvc ${name} is being deleted`)
        continue
      }
      try {
        await this.#client.create(persistentVolumeClaims, claim)
        actor.event(set, "Normal", "SuccessfulCreate", `Create Claim ${name} ${of} success`)
      } catch (error) {
        // The cache is stale.
        if (isAlreadyExists(error)) continue
        if (isNamespaceTerminating(error)) throw error
        const text = errorMessage(error)
        actor.event(set, "Warning", "FailedCreate", `Create Claim ${name} for ${of} failed error: ${text}`)
        failures.push(`failed to create PVC ${name}: ${text}`)
        cause ??= error
      }
    }
    const [first, ...others] = failures
    if (first !== undefined) throw unexplained(others.length === 0 ? first : `[${failures.join(", ")}]`, { cause })
  }

  #areAligned(replica: Replica): boolean {
    return this.#claims(replica).every((claim) => this.#owners(claim, replica) === undefined)
  }

  /** Sets the owners of claims as persistentVolumeClaimRetentionPolicy specifies. */
  async #alignClaims(replica: Replica): Promise<void> {
    const { actor, set } = this.#options
    for (const claim of this.#claims(replica)) {
      const { name = "" } = claim.metadata
      if (isForeign(claim, set, replica.pod)) {
        const text = `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`
        actor.event(set, "Warning", "ConflictingController", text)
      }
      const ownerReferences = this.#owners(claim, replica)
      if (ownerReferences === undefined) continue
      const changed = { ...claim, metadata: { ...claim.metadata, ownerReferences } }
      try {
        await this.#client.update(persistentVolumeClaims, changed)
      } catch (error) {
        if (isRace(error) || isNamespaceTerminating(error)) throw error
        const text = `could not update claim ${name} for delete policy ownerRefs: ${errorMessage(error)}`
        throw unexplained(text, { cause: error })
      }
    }
  }

  /** The existing claims of the replica. */
  #claims({ ordinal }: Replica): PersistentVolumeClaim[] {
    const { ctx, actor, set } = this.#options
    const informer = ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims)
    return claimsOf(set, ordinal).flatMap(
      ({ metadata }) => informer.get(actor.tenant, metadata.namespace, metadata.name ?? "") ?? [],
    )
  }

  #owners(claim: PersistentVolumeClaim, { ordinal, pod }: Replica): OwnerReference[] | undefined {
    const { set } = this.#options
    return claimOwners(claim, set, pod, isInRange(set, ordinal))
  }

  async #attempt<T>(verb: Verb, pod: Pod, call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      this.#recordEvent(verb, pod, error)
      throw error
    }
  }

  #recordEvent(verb: Verb, pod: Pod, error?: unknown): void {
    const { actor, set } = this.#options
    const what = `${verb} Pod ${pod.metadata.name ?? ""} in StatefulSet ${set.metadata.name ?? ""}`
    if (error === undefined) actor.event(set, "Normal", `Successful${verb}`, `${what} successful`)
    // Races are resolved by the next attempt, and a namespace that is being deleted accepts no Events.
    else if (!isRace(error) && !isNamespaceTerminating(error)) {
      actor.event(set, "Warning", `Failed${verb}`, `${what} failed error: ${errorMessage(error)}`)
    }
  }
}

const isRace = (error: unknown): boolean => hasReason(error, "Conflict", "NotFound")
