// Which objects concern a node: those that its pods use. Upstream keeps a graph of all such relations; here they are looked up in the
// objects themselves when a node asks, so tenants without kubelets of their own pay nothing, and no second copy can be out of date.
// Source: k8s.io/kubernetes/plugin/pkg/auth/authorizer/node/graph.go.

import { isMirror } from "../../apimachinery/core/mirror-pods.ts"
import type { KubeObject, PersistentVolume, Pod } from "../../apimachinery/object.ts"
import {
  mountedClaims,
  mountedConfigMaps,
  mountedSecrets,
  usedResourceClaims,
} from "../../apimachinery/core/pod-references.ts"
import { type FieldSelector, printFieldSelector } from "../../apimachinery/fields.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { persistentVolumes, pods, resourceSlices, volumeAttachments } from "../../client/resources.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { visibleSecrets } from "./volume-secrets.ts"

export type RelationReader = Pick<KubeClient, "get" | "list">

/** Whether the object, which need not exist, concerns the node. */
type Relation = (reader: RelationReader, node: string, namespace: string, name: string) => Promise<boolean>

/** By the plural names of resources. */
export const relations = {
  pods: async (reader, node, namespace, name) => {
    const pod = await find<Pod>(reader, pods, namespace, name)
    return pod?.spec?.nodeName === node
  },
  configmaps: usedBy(mountedConfigMaps),
  serviceaccounts: usedBy(({ spec }) => new Set(spec?.serviceAccountName ? [spec.serviceAccountName] : [])),
  persistentvolumeclaims: usedBy(mountedClaims),
  resourceclaims: usedBy(usedResourceClaims),
  secrets: async (reader, node, namespace, name) =>
    (await usedBy(mountedSecrets)(reader, node, namespace, name)) || isSecretOfVolume(reader, node, namespace, name),
  persistentvolumes: async (reader, node, _namespace, name) => {
    const volume = await find<PersistentVolume>(reader, persistentVolumes, undefined, name)
    return volume !== undefined && isMounted(reader, node, volume)
  },
  volumeattachments: ofNode(volumeAttachments),
  resourceslices: ofNode(resourceSlices),
} satisfies Record<string, Relation>

function usedBy(namesOf: (pod: Pod) => ReadonlySet<string>): Relation {
  return async (reader, node, namespace, name) =>
    (await podsOn(reader, node, namespace)).some((pod) => namesOf(pod).has(name))
}

/** Without mirror pods: a node makes them itself, and must not give itself access by them. */
async function podsOn(reader: RelationReader, node: string, namespace: string): Promise<Pod[]> {
  const { items } = await reader.list<Pod>(pods, { namespace, fieldSelector: printFieldSelector(onNode(node)) })
  return items.filter(({ metadata }) => !isMirror(metadata))
}

const onNode = (node: string): FieldSelector => ({
  requirements: [{ field: "spec.nodeName", equal: true, value: node }],
})

async function isSecretOfVolume(
  reader: RelationReader,
  node: string,
  namespace: string,
  name: string,
): Promise<boolean> {
  const { items } = await reader.list<PersistentVolume>(persistentVolumes)
  for (const volume of items) {
    const names = visibleSecrets(volume).some((secret) => secret.namespace === namespace && secret.name === name)
    if (names && (await isMounted(reader, node, volume))) return true
  }
  return false
}

function isMounted(reader: RelationReader, node: string, { spec }: PersistentVolume): Promise<boolean> {
  const { namespace = "", name = "" } = spec?.claimRef ?? {}
  if (namespace === "" || name === "") return Promise.resolve(false)
  return relations.persistentvolumeclaims(reader, node, namespace, name)
}

function ofNode(resource: Resource): Relation {
  return async (reader, node, _namespace, name) => {
    const object = await find<KubeObject & { spec?: { nodeName?: string } }>(reader, resource, undefined, name)
    return object?.spec?.nodeName === node
  }
}

async function find<T extends KubeObject>(
  reader: RelationReader,
  resource: Resource,
  namespace: string | undefined,
  name: string,
): Promise<T | undefined> {
  try {
    return await reader.get<T>(resource, namespace, name)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
