// What a super cluster must have of its tenants once everything has come to rest, found out without the syncer's own rules: each
// object that a tenant's user made is there exactly once, as it is in the tenant, and nothing else is there; what the super cluster
// says of it is in the tenant; and each tenant's VirtualCluster and kubeconfig are as its owner expects.

import { isDeepStrictEqual } from "node:util"
import { isFinished } from "../../../apimachinery/core/pod-phase.ts"
import type { KubeObject, Pod, Secret } from "../../../apimachinery/object.ts"
import { isNotFound } from "../../../apimachinery/status.ts"
import {
  adminKubeconfigSecret,
  adoptAnnotation,
  clusterAnnotation,
  clusterKey,
  clusterLabel,
  controlledLabel,
  namespaceAnnotation,
  tokenPodUIDAnnotation,
  uidAnnotation,
} from "../../../apimachinery/tenancy.ts"
import { loadKubeconfig } from "../../../client/credentials/kubeconfig.ts"
import { createHttpClient, type HttpClient } from "../../../client/http/client.ts"
import {
  configMaps,
  endpoints,
  namespaces,
  persistentVolumeClaims,
  pods,
  secrets,
  serviceAccounts,
  services,
  virtualClusters,
} from "../../../client/resources.ts"
import type { KubeClient, Resource } from "../../../client/rest.ts"
import type { VirtualCluster } from "../../../operator/types.ts"

/** On objects of which there must be a copy. */
export const ofUser = { "example.com/of": "user" }

const kinds: readonly Resource[] = [configMaps, secrets, services, persistentVolumeClaims, serviceAccounts, pods]
const copiedKinds = [...kinds, endpoints]

/** One that adopts the tenant of a predecessor has that one's. */
export function keyOfVirtualCluster({ metadata }: KubeObject): string {
  const { namespace = "", name = "", uid = "", annotations } = metadata
  return clusterKey({ namespace, name, uid: annotations?.[adoptAnnotation] ?? uid })
}

/**
 * With the kubeconfig that the super cluster has for the tenant. Undefined if there is none. `origin`: of another gateway than the one that
 * the kubeconfig names.
 */
export async function connectTenant(
  superClient: KubeClient,
  virtualCluster: KubeObject,
  origin?: string,
): Promise<HttpClient | undefined> {
  try {
    const place = keyOfVirtualCluster(virtualCluster)
    const { data } = await superClient.get<Secret>(secrets, place, adminKubeconfigSecret)
    const text = Buffer.from(data?.["admin-kubeconfig"] ?? "", "base64").toString()
    const config = await loadKubeconfig(text)
    const server = origin === undefined ? config.server : new URL(new URL(config.server).pathname, origin).href
    return createHttpClient({ ...config, server })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Returns what is wrong; nothing if all is as it must be. */
export async function faultsOf(superClient: KubeClient): Promise<string[]> {
  const faults: string[] = []
  const living = new Set<string>()
  const copies = await listCopies(superClient)
  for (const virtualCluster of (await superClient.list<VirtualCluster>(virtualClusters)).items) {
    const { name } = virtualCluster.metadata
    if (virtualCluster.metadata.deletionTimestamp !== undefined) {
      faults.push(`VirtualCluster ${name}: still being deleted`)
      continue
    }
    const key = keyOfVirtualCluster(virtualCluster)
    living.add(key)
    const { phase, conditions, clusterNamespace, message } = virtualCluster.status ?? {}
    const ready = conditions?.find(({ type }) => type === "Ready")?.status
    if (phase !== "Running" || ready !== "True" || clusterNamespace !== key)
      faults.push(`VirtualCluster ${name}: ${phase}, Ready ${ready}, in ${clusterNamespace}: ${message}`)
    await using client = await connectTenant(superClient, virtualCluster)
    if (client === undefined) {
      faults.push(`VirtualCluster ${name}: no kubeconfig`)
      continue
    }
    const ofTenant = copies.filter(({ object }) => object.metadata.annotations?.[clusterAnnotation] === key)
    faults.push(...(await compareTenant(client, key, ofTenant)).map((fault) => `${name}: ${fault}`))
  }
  for (const { resource, object } of copies) {
    const key = object.metadata.annotations?.[clusterAnnotation] ?? ""
    if (!living.has(key)) faults.push(`orphan of ${key}: ${print(resource, object)}`)
  }
  const homes = (await superClient.list(namespaces, { labelSelector: clusterLabel })).items
  for (const { metadata } of homes) {
    const key = metadata.labels?.[clusterLabel] ?? ""
    if (!living.has(key)) faults.push(`orphan of ${key}: namespace ${metadata.name}`)
  }
  return faults
}

interface Copy {
  resource: Resource
  object: KubeObject
}

async function listCopies(superClient: KubeClient): Promise<Copy[]> {
  const labelSelector = `${controlledLabel}=true`
  const lists = await Promise.all(
    copiedKinds.map(async (resource) => {
      const { items } = await superClient.list(resource, { labelSelector })
      // What the super cluster's controllers make of Services has their labels.
      const ofTenants = items.filter(({ metadata }) => metadata.annotations?.[clusterAnnotation] !== undefined)
      return (resource === endpoints ? ofTenants : items).map((object) => ({ resource, object }))
    }),
  )
  return lists.flat()
}

async function compareTenant(client: KubeClient, key: string, copies: readonly Copy[]): Promise<string[]> {
  const faults: string[] = []
  const byUid = Map.groupBy(copies, ({ object }) => object.metadata.annotations?.[uidAnnotation] ?? "")
  const uids = new Set<string>()
  for (const resource of copiedKinds) {
    for (const object of (await client.list(resource)).items) {
      uids.add(object.metadata.uid ?? "")
      const found = (byUid.get(object.metadata.uid ?? "") ?? []).filter((copy) => copy.resource === resource)
      // A pod whose node is gone with the super cluster has ended, and its controller has made another one.
      const isOfUser = kinds.includes(resource) && object.metadata.labels?.["example.com/of"] === "user"
      const isDue = isOfUser && !(resource === pods && isFinished(object as Pod))
      if (found.length > 1 || (isDue && found.length === 0))
        faults.push(`${print(resource, object)} has ${found.length} copies`)
      const [copy] = found
      if (isDue && copy !== undefined) faults.push(...compareObject(resource, object, copy.object))
    }
  }
  for (const { resource, object } of copies) {
    const annotations = object.metadata.annotations ?? {}
    const uid = annotations[tokenPodUIDAnnotation] ?? annotations[uidAnnotation] ?? ""
    if (!uids.has(uid)) faults.push(`${print(resource, object)} in ${key} is of no object`)
    else if (object.metadata.deletionTimestamp !== undefined)
      faults.push(`${print(resource, object)} is still being deleted`)
  }
  return faults
}

const contents: Record<string, (object: KubeObject) => unknown> = {
  configmaps: ({ data, binaryData }) => ({ data, binaryData }),
  secrets: ({ data }) => data,
  services: ({ spec }) => {
    const { clusterIP, clusterIPs, ports, selector } = spec as Record<string, unknown>
    return { clusterIP, clusterIPs, ports, selector }
  },
  persistentvolumeclaims: ({ status }) => (status as { phase?: string }).phase,
  serviceaccounts: () => undefined,
  pods: (object) => {
    const { spec, status } = object as Pod
    return { node: spec?.nodeName, phase: status?.phase, podIP: status?.podIP, image: spec?.containers[0]?.image }
  },
}

function compareObject(resource: Resource, object: KubeObject, copy: KubeObject): string[] {
  const what = print(resource, object)
  const faults: string[] = []
  if (object.metadata.namespace !== copy.metadata.annotations?.[namespaceAnnotation])
    faults.push(`${what} is in a wrong namespace`)
  if (resource === pods && (object as Pod).status?.phase !== "Running")
    faults.push(`${what} is ${(object as Pod).status?.phase}`)
  const read = contents[resource.resource]
  const [own, other] = [read?.(object), read?.(copy)]
  if (!isDeepStrictEqual(own, other))
    faults.push(`${what} is ${JSON.stringify(own)}, its copy ${JSON.stringify(other)}`)
  return faults
}

const print = ({ resource }: Resource, { metadata }: KubeObject): string =>
  `${resource} ${metadata.namespace}/${metadata.name}`
