// What must not happen between tenants and a super cluster, whatever fails: it is noted when it does.

import type { KubeObject, Pod } from "../../apimachinery/object.ts"
import { clusterAnnotation, clusterLabel, uidAnnotation } from "../../apimachinery/tenancy.ts"
import { namespaces, pods } from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"
import type { FakeCluster } from "../../client/testing/fake-cluster.ts"
import type { Change } from "../../client/testing/fake-store.ts"
import { recordedOwner } from "../conversion/ownership.ts"
import type { FakeTenants } from "./fake-tenants.ts"

export class Invariants {
  readonly wrong: string[] = []
  /** Uids of copies that others than the syncer remove. */
  readonly removed = new Set<string>()
  #isRestored = false
  /** Uids of what tenants have deleted. */
  readonly deleted = new Set<string>()
  /** Of copies, by their uids. */
  readonly #owners = new Map<string, string>()
  readonly #copied: readonly Resource[]
  readonly #superCluster: FakeCluster
  readonly #tenants: FakeTenants

  constructor(copied: readonly Resource[], superCluster: FakeCluster, tenants: FakeTenants) {
    this.#copied = copied
    this.#superCluster = superCluster
    this.#tenants = tenants
    superCluster.onChange((change) => {
      if (change.type === "ADDED" && change.resource === pods.resource) this.#checkCopy(change.object as Pod)
      this.#checkOwner(change)
      this.#checkMarks(change)
    })
  }

  /** Super has been restored from a backup: what is written before all of that is seen may be in namespaces that are to go. */
  get isRestored(): boolean {
    return this.#isRestored
  }

  /** Before anything is written there. Copies are of whom they were then. */
  restored(): void {
    this.#isRestored = true
    this.#owners.clear()
    for (const copy of this.#copied.flatMap((kind) => this.#superCluster.all<KubeObject>(kind))) {
      const owner = recordedOwner(copy)?.uid
      if (owner !== undefined) this.#owners.set(copy.metadata.uid ?? "", owner)
    }
  }

  /** A new tenant's. */
  follow(cluster: FakeCluster): void {
    cluster.onChange((change) => {
      const { type, resource, object } = change
      this.#checkNames(change)
      const { metadata } = object
      const isAsked = metadata.deletionTimestamp !== undefined || this.deleted.has(metadata.uid ?? "")
      const isCopied = this.#copied.some((kind) => kind.resource === resource)
      if (type === "DELETED" && isCopied && !isAsked) this.wrong.push(`${resource} ${metadata.name} is gone`)
      if (resource === pods.resource) this.#checkLoss(object as Pod)
    })
  }

  /** What is in a tenant's namespace is that tenant's, as all of its marks say, whoever it claims to be. */
  #checkMarks({ type, resource, object }: Change): void {
    const { namespace, name, annotations, labels } = object.metadata
    const kind = this.#copied.find((one) => one.resource === resource)
    const home = this.#superCluster.find(namespaces, undefined, namespace ?? "")
    if (kind === undefined || home === undefined || type === "DELETED") return
    const key = home.metadata.annotations?.[clusterAnnotation]
    // Somebody has disowned it.
    if (key === undefined) return
    const keys = [annotations?.[clusterAnnotation], labels?.[clusterLabel]].filter((one) => one !== undefined)
    if (keys.some((one) => one !== key)) this.wrong.push(`${resource} ${namespace}/${name} is of ${keys.join()}`)
  }

  /** Nothing in a tenant says what super calls it, or another tenant. */
  #checkNames({ resource, object }: Change): void {
    const { labels: _labels, annotations: _annotations, managedFields: _fields, ...metadata } = object.metadata
    const text = JSON.stringify({ ...object, metadata })
    for (const { tenant } of this.#tenants.clusters.values())
      if (text.includes(tenant.clusterKey)) this.wrong.push(`${resource} ${metadata.name} says ${text}`)
  }

  /** A pod that must not run twice does not. */
  #checkCopy({ metadata, spec }: Pod): void {
    const uid = metadata.annotations?.[uidAnnotation]
    for (const { cluster } of this.#tenants.clusters.values()) {
      const pod = cluster.all<Pod>(pods).find((one) => one.metadata.uid === uid)
      const hasBegun = (pod?.status?.containerStatuses ?? []).length > 0
      if (hasBegun && spec?.restartPolicy === "Never") this.wrong.push(`pod ${metadata.name} runs twice`)
    }
  }

  /** No kubelet says so here: it is said of a pod whose copy is gone. */
  #checkLoss({ metadata, status }: Pod): void {
    if (status?.phase !== "Failed") return
    const copies = this.#superCluster.all<Pod>(pods)
    const isThere = copies.some((copy) => copy.metadata.annotations?.[uidAnnotation] === metadata.uid)
    if (isThere) this.wrong.push(`pod ${metadata.name} is said to be lost`)
  }

  /** A copy is that of one object for ever, and stays as long as that, except a pod's that is not where the tenant's is. */
  #checkOwner({ type, resource, object }: Change): void {
    const { uid = "", name } = object.metadata
    const owner = recordedOwner(object)?.uid
    const before = this.#owners.get(uid)
    // Somebody has disowned it, perhaps before its namespace goes: another object may adopt it there.
    if (before !== undefined && owner === undefined) this.removed.add(uid)
    if (owner === undefined) this.#owners.delete(uid)
    else this.#owners.set(uid, owner)
    if (before !== undefined && owner !== undefined && owner !== before)
      this.wrong.push(`${resource} ${name} is of another object`)
    if (type !== "DELETED" || this.removed.has(uid)) return
    const home = this.#superCluster.find(namespaces, undefined, object.metadata.namespace ?? "")
    if (this.#isRestored && home === undefined) return
    for (const { cluster } of this.#tenants.clusters.values()) {
      const kind = this.#copied.find((one) => one.resource === resource)
      const living = kind && cluster.all<KubeObject>(kind).find(({ metadata }) => metadata.uid === owner)
      if (living === undefined || living.metadata.deletionTimestamp !== undefined) continue
      const nodeOf = ({ spec }: Pod): string => spec?.nodeName ?? ""
      const isElsewhere =
        kind === pods && (nodeOf(object as Pod) === "" || nodeOf(object as Pod) !== nodeOf(living as Pod))
      if (!isElsewhere) this.wrong.push(`the copy of ${resource} ${name} is gone`)
    }
  }
}
