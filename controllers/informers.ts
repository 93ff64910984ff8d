// The informers that all controllers share: one per kind, over all tenants that use these controllers. An informer is created and
// started when a controller first requests it.

import { serviceNameLabel } from "../apimachinery/core/endpoint-slices.ts"
import { dictionary } from "../apimachinery/dictionary.ts"
import { isBindingDone } from "../apimachinery/core/claim-binding.ts"
import { classOf } from "../apimachinery/core/storage-classes.ts"
import type {
  ClusterRole,
  EndpointSlice,
  IPAddress,
  Job,
  KubeObject,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ResourceClaim,
  ResourceSlice,
  Service,
  StatefulSet,
} from "../apimachinery/object.ts"
import { controllerOf } from "../apimachinery/object.ts"
import type { Log } from "../client/log.ts"
import type { IndexFunctions } from "../client/informers/object-index.ts"
import type { Resource } from "../client/rest.ts"
import { TenantInformer } from "../client/informers/tenant-informer.ts"
import type { Tenants } from "../client/tenants.ts"
import { poolOf } from "./device-taints/eviction-time.ts"
import { claimNamesOf } from "./pods/claims-of-pod.ts"
import { isFinished } from "./pods/pod-state.ts"
import { claimNames, templateNames } from "./resource-claim/pod-claims.ts"
import { shownAddresses } from "./service-cidr/cluster-addresses.ts"
import { claimPrefixes } from "./statefulset/identity.ts"

/** Indexes of every informer. */
const commonIndexes: IndexFunctions<KubeObject> = {
  /** By the uid of the controlling owner. */
  controller: (object) => {
    const owner = controllerOf(object)
    return owner === undefined ? [] : [owner.uid]
  },
  /** By namespace, objects without a controlling owner. */
  orphans: (object) => (controllerOf(object) === undefined ? [object.metadata.namespace ?? ""] : []),
}

const podIndexes: IndexFunctions<Pod> = {
  /** By the uid of the controlling owner, pods that have not finished. */
  unfinished: (pod) => {
    const owner = controllerOf(pod)
    return owner === undefined || isFinished(pod) ? [] : [owner.uid]
  },
  /** By "namespace/claim", pods that use a PersistentVolumeClaim. */
  claims: (pod) => claimNamesOf(pod).map((claim) => `${pod.metadata.namespace}/${claim}`),
  node: (pod) => [pod.spec?.nodeName ?? ""],
  /** By "namespace/claim", pods that use a ResourceClaim. */
  resourceClaims: (pod) => claimNames(pod).map((claim) => `${pod.metadata.namespace}/${claim}`),
  /** By "namespace/template", pods that want ResourceClaims made from a template. */
  resourceClaimTemplates: (pod) => templateNames(pod).map((template) => `${pod.metadata.namespace}/${template}`),
}

const jobIndexes: IndexFunctions<Job> = {
  /** By "namespace/name" of the controlling owner, of any kind. */
  controllerName: (job) => {
    const owner = controllerOf(job)
    return owner === undefined ? [] : [`${job.metadata.namespace ?? ""}/${owner.name}`]
  },
}

const setIndexes: IndexFunctions<StatefulSet> = {
  /** By "namespace/name" of claims without their ordinal. */
  claims: claimPrefixes,
}

const addressIndexes: IndexFunctions<IPAddress> = {
  /** By "resource namespace/name" of the object that has the address. */
  parent: ({ spec }) => {
    const parent = spec?.parentRef
    return parent === undefined ? [] : [`${parent.resource} ${parent.namespace ?? ""}/${parent.name}`]
  },
}

const serviceIndexes: IndexFunctions<Service> = {
  /** By address in the cluster, in canonical form, without that of the API: most tenants have no other. */
  addresses: shownAddresses,
}

const sliceIndexes: IndexFunctions<EndpointSlice> = {
  /** By "namespace/name" of the Service in the label. */
  service: ({ metadata }) => {
    const name = metadata.labels?.[serviceNameLabel]
    return name === undefined ? [] : [`${metadata.namespace ?? ""}/${name}`]
  },
}

const volumeIndexes: IndexFunctions<PersistentVolume> = {
  /** By "namespace/name" of the claim to which the volume is bound. */
  claim: ({ spec }) => {
    const { namespace = "", name } = spec?.claimRef ?? {}
    return name === undefined ? [] : [`${namespace}/${name}`]
  },
  /** By class, volumes that no claim has, and that are not being deleted. */
  free: (volume) =>
    volume.spec?.claimRef === undefined && volume.metadata.deletionTimestamp === undefined ? [classOf(volume)] : [],
}

const claimIndexes: IndexFunctions<PersistentVolumeClaim> = {
  /** By the volume that the claim names. */
  volume: ({ spec }) => (spec?.volumeName === undefined ? [] : [spec.volumeName]),
  /** By class, claims that are not bound. */
  waiting: (claim) => (isBindingDone(claim) ? [] : [classOf(claim)]),
}

const roleIndexes: IndexFunctions<ClusterRole> = {
  aggregated: ({ aggregationRule }) => (aggregationRule === undefined ? [] : [""]),
}

const deviceClaimIndexes: IndexFunctions<ResourceClaim> = {
  /** By the pools of its devices. */
  pool: ({ status }) => [
    ...new Set(status?.allocation?.devices?.results?.map(({ driver, pool }) => poolOf(driver, pool))),
  ],
}

const deviceSliceIndexes: IndexFunctions<ResourceSlice> = {
  pool: ({ spec: { driver, pool } }) => [poolOf(driver, pool.name)],
}

const special: Readonly<Record<string, IndexFunctions<never>>> = dictionary({
  "/v1/pods": podIndexes as IndexFunctions<never>,
  "apps/v1/statefulsets": setIndexes as IndexFunctions<never>,
  "batch/v1/jobs": jobIndexes as IndexFunctions<never>,
  "/v1/services": serviceIndexes as IndexFunctions<never>,
  "/v1/persistentvolumes": volumeIndexes as IndexFunctions<never>,
  "/v1/persistentvolumeclaims": claimIndexes as IndexFunctions<never>,
  "rbac.authorization.k8s.io/v1/clusterroles": roleIndexes as IndexFunctions<never>,
  "resource.k8s.io/v1/resourceclaims": deviceClaimIndexes as IndexFunctions<never>,
  "resource.k8s.io/v1/resourceslices": deviceSliceIndexes as IndexFunctions<never>,
  "discovery.k8s.io/v1/endpointslices": sliceIndexes as IndexFunctions<never>,
  "networking.k8s.io/v1/ipaddresses": addressIndexes as IndexFunctions<never>,
})

export class Informers {
  readonly #tenants: Tenants
  readonly #log: Log
  readonly #signal: AbortSignal
  readonly #informers = new Map<string, TenantInformer<never>>()

  constructor(tenants: Tenants, log: Log, signal: AbortSignal) {
    this.#tenants = tenants
    this.#log = log
    this.#signal = signal
  }

  /** The informer, if a controller has requested it. */
  existing(resource: Resource): TenantInformer<KubeObject> | undefined {
    return this.#informers.get(idOf(resource)) as unknown as TenantInformer<KubeObject> | undefined
  }

  /** The caller chooses the type; each resource has one informer. */
  of<T extends KubeObject>(resource: Resource): TenantInformer<T> {
    const id = idOf(resource)
    const present = this.#informers.get(id)
    if (present !== undefined) return present as unknown as TenantInformer<T>
    return this.#start<T>(id, resource, {})
  }

  /** An informer of the objects whose text contains one of these words (and possibly of others); the rest is not cached. */
  mentioning<T extends KubeObject>(resource: Resource, words: readonly string[]): TenantInformer<T> {
    const id = `${idOf(resource)} ${words.join()}`
    const present = this.#informers.get(id)
    if (present !== undefined) return present as unknown as TenantInformer<T>
    return this.#start<T>(id, resource, { mentioning: words })
  }

  #start<T extends KubeObject>(
    id: string,
    resource: Resource,
    options: { mentioning?: readonly string[] },
  ): TenantInformer<T> {
    const indexes = { ...commonIndexes, ...special[idOf(resource)] } as IndexFunctions<T>
    const informer = new TenantInformer<T>(this.#tenants, resource, { ...options, indexes, log: this.#log })
    this.#informers.set(id, informer as unknown as TenantInformer<never>)
    informer.start(this.#signal)
    return informer
  }
}

function idOf({ group, version, resource }: Resource): string {
  return `${group}/${version}/${resource}`
}
