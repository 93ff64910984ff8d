// The super cluster's objects for a tenant besides the syncer's copies: the root namespace, named like the cluster key, with the
// Secret that contains the tenant's admin kubeconfig. Names and annotations are those of the ancestor.

import { timestamp, type KubeObject, type Secret } from "../apimachinery/object.ts"
import {
  adminKubeconfigSecret,
  clusterAnnotation,
  clusterLabel,
  controlledLabel,
  rootNamespaceAnnotation,
  virtualClusterNameKey,
  virtualClusterNamespaceKey,
  virtualClusterUIDAnnotation,
} from "../apimachinery/tenancy.ts"
import { isAlreadyExists, isConflict, isNotFound } from "../apimachinery/status.ts"
import { namespaces, secrets } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import type { LabelledNamespaces } from "./labelled-namespaces.ts"

const issuedAtAnnotation = "tenancy.x-k8s.io/issued-at"
const tenantUIDAnnotation = "tenancy.x-k8s.io/tenant-uid"
const kubeconfigKey = "admin-kubeconfig"

type VirtualClusterName = Tenant["virtualCluster"]

/** `isNew`: it probably does not exist yet. Returns false if a namespace of that name belongs to someone else. */
export async function ensureRootNamespace(
  client: KubeClient,
  clusterKey: string,
  owner: VirtualClusterName,
  isNew: boolean,
): Promise<boolean> {
  try {
    if (!isNew) return await isOwn(client, clusterKey, owner)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  const { namespace, name, uid } = owner
  const wanted: KubeObject = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: clusterKey,
      labels: { [controlledLabel]: "true", [clusterLabel]: clusterKey },
      annotations: {
        [rootNamespaceAnnotation]: "true",
        [virtualClusterNameKey]: name,
        [virtualClusterNamespaceKey]: namespace,
        [virtualClusterUIDAnnotation]: uid,
      },
    },
  }
  try {
    await client.create(namespaces, wanted)
    return true
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  return isOwn(client, clusterKey, owner)
}

async function isOwn(client: KubeClient, clusterKey: string, { uid }: VirtualClusterName): Promise<boolean> {
  const { metadata } = await client.get(namespaces, undefined, clusterKey)
  return metadata.annotations?.[virtualClusterUIDAnnotation] === uid
}

export interface StoredKubeconfig {
  text: string
  tenantUID: string
  issuedAt: number
}

export async function storedKubeconfig(client: KubeClient, clusterKey: string): Promise<StoredKubeconfig | undefined> {
  try {
    const { data, metadata } = await client.get<Secret>(secrets, clusterKey, adminKubeconfigSecret)
    const issuedAt = Date.parse(metadata.annotations?.[issuedAtAnnotation] ?? "")
    return {
      text: Buffer.from(data?.[kubeconfigKey] ?? "", "base64").toString(),
      tenantUID: metadata.annotations?.[tenantUIDAnnotation] ?? "",
      issuedAt: Number.isNaN(issuedAt) ? 0 : issuedAt,
    }
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** `isStored`: there is one already. */
export async function storeKubeconfig(
  client: KubeClient,
  { clusterKey, uid }: Tenant,
  { text, issuedAt, isStored }: { text: string; issuedAt: number; isStored: boolean },
): Promise<void> {
  const annotations = { [issuedAtAnnotation]: timestamp(new Date(issuedAt)), [tenantUIDAnnotation]: uid }
  const data = { [kubeconfigKey]: Buffer.from(text).toString("base64") }
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: adminKubeconfigSecret, namespace: clusterKey, annotations },
    type: "Opaque",
    data,
  }
  try {
    if (!isStored) {
      await client.create(secrets, secret)
      return
    }
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  await client.patch(secrets, clusterKey, adminKubeconfigSecret, { metadata: { annotations }, data }, { type: "merge" })
}

/** Deletes all namespaces of that VirtualCluster in the super cluster, and no others. */
export async function removeNamespaces(
  client: KubeClient,
  labelled: LabelledNamespaces,
  { clusterKey, uid }: { clusterKey: string; uid: string },
): Promise<void> {
  for (const { metadata } of await labelled.of(clusterKey)) {
    const annotations = metadata.annotations
    const isRoot = annotations?.[rootNamespaceAnnotation] === "true" && metadata.name === clusterKey
    const isTenants = annotations?.[clusterAnnotation] === clusterKey
    if ((!isRoot && !isTenants) || annotations?.[virtualClusterUIDAnnotation] !== uid) continue
    try {
      await client.delete(
        namespaces,
        undefined,
        metadata.name ?? "",
        metadata.uid === undefined ? {} : { uid: metadata.uid },
      )
    } catch (error) {
      // Deleted, or already terminating.
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }
}
