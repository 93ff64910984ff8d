// The structure that all Kubernetes objects share, and the identifiers of kinds and resources.
// All other parts use these types; nothing here depends on storage or HTTP.

import type * as models from "@kubernetes/client-node"

/** bigint: an integer beyond 2^53, see schema/exact-integers.ts. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json }

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  /** RFC 3339, seconds, UTC: `2026-01-02T03:04:05Z`. */
  creationTimestamp?: string | null
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: { [key: string]: unknown }[]
  selfLink?: string
}

/** Any object of the API in its wire format. Only code for a specific kind knows the other fields. */
export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  [field: string]: unknown
}

export interface GroupVersion {
  /** "" for the core group. */
  group: string
  version: string
}

export interface GroupVersionKind extends GroupVersion {
  kind: string
}

export interface GroupVersionResource extends GroupVersion {
  resource: string
}

/** "apps/v1", or "v1" for the core group. */
export function printGroupVersion({ group, version }: GroupVersion): string {
  return group === "" ? version : `${group}/${version}`
}

/** The inverse of {@link printGroupVersion}. Further slashes remain in the version; callers must reject them. */
export function parseGroupVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf("/")
  return slash < 0
    ? { group: "", version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** "pods" or "deployments.apps": the name of a resource in messages. */
export function printGroupResource({ group, resource }: { group: string; resource: string }): string {
  return group === "" ? resource : `${resource}.${group}`
}

/** RFC 3339 in whole seconds, as metav1.Time is printed. */
export function timestamp(at?: Date): string {
  const second = Math.floor((at?.getTime() ?? Date.now()) / 1000)
  if (second !== printed.second) printed = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` }
  return printed.text
}

/** Cache of the last result, since it is needed several times per write. */
let printed = { second: 0, text: "1970-01-01T00:00:00Z" }

/** RFC 3339 with microseconds, as metav1.MicroTime is printed. */
export function microTimestamp(at: Date = new Date()): string {
  return at.toISOString().slice(0, 23) + "000Z"
}

export function controllerOf(object: { metadata: ObjectMeta }): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true)
}

/** The wire format of a type of the client's model: times are strings. */
export type Wire<T> = T extends Date
  ? string
  : T extends (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [Key in keyof T]: Wire<T[Key]> }
      : T

type Kind<T> = Omit<Wire<T>, "metadata" | "apiVersion" | "kind"> & KubeObject

// The kinds whose fields this project uses. Types only: the client is not loaded at run time.
export type Pod = Kind<models.V1Pod>
export type PodSpec = Wire<models.V1PodSpec>
export type PodStatus = Wire<models.V1PodStatus>
export type PodTemplateSpec = Wire<models.V1PodTemplateSpec>
export type Container = Wire<models.V1Container>
export type ContainerStatus = Wire<models.V1ContainerStatus>
export type Service = Kind<models.V1Service>
export type Endpoints = Kind<models.V1Endpoints>
export type EndpointSlice = Kind<models.V1EndpointSlice>
export type Namespace = Kind<models.V1Namespace>
export type Node = Kind<models.V1Node>
export type ConfigMap = Kind<models.V1ConfigMap>
export type Secret = Kind<models.V1Secret>
export type ServiceAccount = Kind<models.V1ServiceAccount>
export type PersistentVolume = Kind<models.V1PersistentVolume>
export type PersistentVolumeClaim = Kind<models.V1PersistentVolumeClaim>
export type StorageClass = Kind<models.V1StorageClass>
export type Deployment = Kind<models.V1Deployment>
export type ReplicaSet = Kind<models.V1ReplicaSet>
export type StatefulSet = Kind<models.V1StatefulSet>
export type Job = Kind<models.V1Job>
export type ClusterRole = Kind<models.V1ClusterRole>
export type RoleBinding = Kind<models.V1RoleBinding>
export type LimitRange = Kind<models.V1LimitRange>
export type ResourceQuota = Kind<models.V1ResourceQuota>
export type PriorityClass = Kind<models.V1PriorityClass>
export type CertificateSigningRequest = Kind<models.V1CertificateSigningRequest>
export type ResourceClaim = Kind<models.ResourceV1ResourceClaim>
export type ResourceClaimTemplate = Kind<models.V1ResourceClaimTemplate>
export type ResourceSlice = Kind<models.V1ResourceSlice>
export type VolumeAttributesClass = Kind<models.V1VolumeAttributesClass>
export type ServiceCIDR = Kind<models.V1ServiceCIDR>
export type IPAddress = Kind<models.V1IPAddress>
export type Lease = Kind<models.V1Lease>
export type CustomResourceDefinition = Kind<models.V1CustomResourceDefinition>
