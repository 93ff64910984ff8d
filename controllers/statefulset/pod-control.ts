// What a StatefulSet does to one of its pods, together with the claims the pod uses, and the Events that tell of it.
// Source: k8s.io/kubernetes/pkg/controller/statefulset/stateful_pod_control.go.

import { errorMessage } from "../../apimachinery/error-message.ts"
import type { OwnerReference, PersistentVolumeClaim, Pod, StatefulSet } from "../../apimachinery/object.ts"
import { hasReason, isAlreadyExists, isNotFound, unexplained } from "../../apimachinery/status.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import { persistentVolumeClaims, pods as podResource } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { Actor, ControllerContext } from "../context.ts"
import { claimOwners, isForeign, isOfFormerPod } from "./claim-retention.ts"
import { claimsOf, hasIdentity, hasStorage, isInRange, withIdentity, withStorage } from "./identity.ts"

export interface Replica {
  ordinal: number
  pod: Pod
  /** false: planned. */
  exists: boolean
}

export interface PodControlOptions {
  ctx: ControllerContext
  actor: Actor
  tenant: string
  set: StatefulSet
}

type Verb = "Create" | "Update" | "Delete"

export class PodControl {
  readonly #options: PodControlOptions
  readonly #client: KubeClient

  constructor(options: PodControlOptions) {
    this.#options = options
    this.#client = options.actor.client(options.tenant)
  }

  /** The pod that had this name takes claims along which are not gone yet. */
  mustWait(replica: Replica): boolean {
    return this.#claims(replica).some((claim) => isOfFormerPod(claim, this.#options.set, replica.pod))
  }

  /** Throws what there is against the pod or one of its claims. */
  async create(replica: Replica): Promise<void> {
    const { pod } = replica
    await this.#attempt("Create", pod, () => this.#createClaims(replica))
    let failure: unknown
    try {
      replica.pod = await this.#client.create<Pod>(podResource, pod)
      replica.exists = true
    } catch (error) {
      // A stranger's, or the cache is behind.
      if (isAlreadyExists(error)) throw error
      failure = error
    }
    // Also without the pod: the claims may be there for long before it is.
    await this.#attempt("Update", pod, () => this.#alignClaims(replica))
    this.#tell("Create", pod, failure)
    if (failure !== undefined) throw failure
  }

  /** For a pod that nothing runs yet, and which may be waiting for them. */
  async provideClaims(replica: Replica): Promise<void> {
    await this.#createClaims(replica)
    await this.#attempt("Update", replica.pod, () => this.#alignClaims(replica))
  }

  /** Labels, volumes and the owners of claims, where they are not as they should be. */
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
    this.#tell("Update", pod)
  }

  /** Of a pod that is not wanted any more. */
  async releaseClaims(replica: Replica): Promise<void> {
    if (!this.#areAligned(replica)) await this.#alignClaims(replica)
  }

  async delete(pod: Pod): Promise<void> {
    const { namespace, name = "", uid } = pod.metadata
    try {
      await this.#client.delete(podResource, namespace, name, uid === undefined ? {} : { uid })
    } catch (error) {
      if (isNotFound(error)) return
      this.#tell("Delete", pod, error)
      throw error
    }
    this.#tell("Delete", pod)
  }

  /** All that are missing, whichever of them fail. */
  async #createClaims({ ordinal, pod }: Replica): Promise<void> {
    const { ctx, actor, tenant, set } = this.#options
    const informer = ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims)
    const of = `Pod ${pod.metadata.name ?? ""} in StatefulSet ${set.metadata.name ?? ""}`
    const failures: string[] = []
    let cause: unknown
    for (const claim of claimsOf(set, ordinal)) {
      const { namespace, name = "" } = claim.metadata
      const present = informer.get(tenant, namespace, name)
      if (present !== undefined) {
        if (present.metadata.deletionTimestamp !== undefined) failures.push(`pvc ${name} is being deleted`)
        continue
      }
      try {
        await this.#client.create(persistentVolumeClaims, claim)
        actor.event(tenant, set, "Normal", "SuccessfulCreate", `Create Claim ${name} ${of} success`)
      } catch (error) {
        // The cache is behind.
        if (isAlreadyExists(error)) continue
        if (isNamespaceTerminating(error)) throw error
        const text = errorMessage(error)
        actor.event(tenant, set, "Warning", "FailedCreate", `Create Claim ${name} for ${of} failed error: ${text}`)
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

  /** Claims are owned by what they should go with (persistentVolumeClaimRetentionPolicy). */
  async #alignClaims(replica: Replica): Promise<void> {
    const { actor, tenant, set } = this.#options
    for (const claim of this.#claims(replica)) {
      const { name = "" } = claim.metadata
      if (isForeign(claim, set, replica.pod)) {
        const text = `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`
        actor.event(tenant, set, "Warning", "ConflictingController", text)
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

  /** Those that are there. */
  #claims({ ordinal }: Replica): PersistentVolumeClaim[] {
    const { ctx, tenant, set } = this.#options
    const informer = ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims)
    return claimsOf(set, ordinal).flatMap(
      ({ metadata }) => informer.get(tenant, metadata.namespace, metadata.name ?? "") ?? [],
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
      this.#tell(verb, pod, error)
      throw error
    }
  }

  #tell(verb: Verb, pod: Pod, error?: unknown): void {
    const { actor, tenant, set } = this.#options
    const what = `${verb} Pod ${pod.metadata.name ?? ""} in StatefulSet ${set.metadata.name ?? ""}`
    if (error === undefined) actor.event(tenant, set, "Normal", `Successful${verb}`, `${what} successful`)
    // The next try knows what won the race, and in a namespace that goes there is nobody to tell.
    else if (!isRace(error) && !isNamespaceTerminating(error)) {
      actor.event(tenant, set, "Warning", `Failed${verb}`, `${what} failed error: ${errorMessage(error)}`)
    }
  }
}

const isRace = (error: unknown): boolean => hasReason(error, "Conflict", "NotFound")
