// The pods of a kubelet: it makes mirror pods of its static pods, deletes and evicts its pods, and reports their statuses.

import { isMirror, mirrorAnnotation } from "../../../../apimachinery/core/mirror-pods.ts"
import type { Node, Pod } from "../../../../apimachinery/object.ts"
import { goQuote } from "../../../../apimachinery/go/quote.ts"
import { mountedConfigMaps, mountedSecrets } from "../../../../apimachinery/core/pod-references.ts"
import { notFound } from "../../../../apimachinery/status.ts"
import type { RequestContext } from "../../../request/context.ts"
import { semanticEqual } from "../../../registry/validation/equality.ts"
import type { AdmissionAttributes } from "../../chain.ts"
import { nodes, pods } from "../../../../client/resources.ts"
import { find } from "../lookup.ts"
import { objectAs, refuse } from "../refuse.ts"

export function restrictPod(ctx: RequestContext, node: string, attributes: AdmissionAttributes): void | Promise<void> {
  const { subresource } = attributes
  if (subresource === "") return restrictObject(ctx, node, attributes)
  if (subresource === "status") return restrictStatus(node, attributes)
  if (subresource === "eviction") return restrictEviction(ctx, node, attributes)
  const detail = `unexpected pod subresource ${goQuote(subresource)}, only 'status' and 'eviction' are allowed`
  throw refuse(attributes, detail)
}

/** As upstream's listers name a missing pod. */
export async function podOf(ctx: RequestContext, namespace: string, name: string): Promise<Pod> {
  const pod = await find<Pod>(ctx, pods, namespace, name)
  if (pod === undefined) throw notFound({ group: "", resource: "pod" }, name)
  return pod
}

async function restrictObject(ctx: RequestContext, node: string, attributes: AdmissionAttributes): Promise<void> {
  const { operation, namespace, name } = attributes
  if (operation === "CREATE") return restrictCreate(ctx, node, attributes)
  if (operation !== "DELETE") {
    const may = `node ${goQuote(node)} can only create and delete mirror pods`
    throw refuse(attributes, `unexpected operation ${goQuote(operation)}, ${may}`)
  }
  const pod = await podOf(ctx, namespace, name)
  if (pod.spec?.nodeName !== node)
    throw refuse(attributes, `node ${goQuote(node)} can only delete pods with spec.nodeName set to itself`)
}

async function restrictCreate(ctx: RequestContext, node: string, attributes: AdmissionAttributes): Promise<void> {
  const pod = objectAs<Pod>(attributes)
  const quoted = goQuote(node)
  if (!isMirror(pod.metadata)) {
    const detail = `pod does not have ${goQuote(mirrorAnnotation)} annotation, node ${quoted} can only create mirror pods`
    throw refuse(attributes, detail)
  }
  if (pod.spec?.nodeName !== node)
    throw refuse(attributes, `node ${quoted} can only create pods with spec.nodeName set to itself`)
  await restrictOwner(ctx, node, attributes)
  const reference = referenceOf(pod)
  if (reference !== undefined)
    throw refuse(attributes, `node ${quoted} can not create pods that reference ${reference}`)
}

async function restrictOwner(ctx: RequestContext, node: string, attributes: AdmissionAttributes): Promise<void> {
  const owners = attributes.object?.metadata.ownerReferences ?? []
  const [owner] = owners
  const can = `node ${goQuote(node)} can only create pods with`
  if (owners.length > 1) throw refuse(attributes, `${can} a single owner reference set to itself`)
  if (owner === undefined || owner.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node)
    throw refuse(attributes, `${can} an owner reference set to itself`)
  if (owner.controller !== true) throw refuse(attributes, `${can} a controller owner reference set to itself`)
  if (owner.blockOwnerDeletion === true)
    throw refuse(attributes, `node ${goQuote(node)} must not set blockOwnerDeletion on an owner reference`)
  const own = await find<Node>(ctx, nodes, "", node)
  if (own === undefined) throw notFound({ group: "", resource: "node" }, node)
  const { uid = "" } = own.metadata
  if (owner.uid !== uid) throw refuse(attributes, `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`)
}

/** Volumes that need objects of the API, and how they are named. A Secret in them has been found before. */
const volumeKinds: readonly (readonly [string, string])[] = [
  ["csi", "csidrivers (via CSI volumes)"],
  ["glusterfs", "endpoints (via glusterFS volumes)"],
  ["persistentVolumeClaim", "persistentvolumeclaims"],
  ["ephemeral", "persistentvolumeclaims (via ephemeral volumes)"],
]
const sourceKinds: readonly (readonly [string, string])[] = [
  ["serviceAccountToken", "serviceaccounts (via projected volumes)"],
  ["clusterTrustBundle", "clustertrustbundles"],
  ["podCertificate", "podcertificates"],
]

/** What kind of objects the pod uses, so that its node could read them. Source: podutil.HasAPIObjectReference. */
function referenceOf(pod: Pod): string | undefined {
  const { spec } = pod
  if (spec?.serviceAccountName) return "serviceaccounts"
  if (mountedSecrets(pod).size > 0) return "secrets"
  if (mountedConfigMaps(pod).size > 0) return "configmaps"
  if ((spec?.resourceClaims ?? []).length > 0) return "resourceclaims"
  for (const volume of spec?.volumes ?? []) {
    const found = volumeKinds.find(([field]) => Object.hasOwn(volume, field))
    if (found !== undefined) return found[1]
    for (const source of volume.projected?.sources ?? []) {
      const inside = sourceKinds.find(([field]) => Object.hasOwn(source, field))
      if (inside !== undefined) return inside[1]
    }
  }
  return undefined
}

function restrictStatus(node: string, attributes: AdmissionAttributes): void {
  if (attributes.operation !== "UPDATE")
    throw refuse(attributes, `unexpected operation ${goQuote(attributes.operation)}`)
  const pod = objectAs<Pod>(attributes)
  const current = attributes.current as Pod | undefined
  const quoted = goQuote(node)
  if (current?.spec?.nodeName !== node) {
    const detail = `node ${quoted} can only update pod status for pods with spec.nodeName set to itself`
    throw refuse(attributes, detail)
  }
  if (!semanticEqual(pod.metadata.labels ?? {}, current.metadata.labels ?? {}))
    throw refuse(attributes, `node ${quoted} cannot update labels through pod status`)
  if (!semanticEqual(pod.status?.resourceClaimStatuses ?? [], current.status?.resourceClaimStatuses ?? []))
    throw refuse(attributes, `node ${quoted} cannot update resource claim statues`)
  if (!semanticEqual(pod.status?.extendedResourceClaimStatus, current.status?.extendedResourceClaimStatus))
    throw refuse(attributes, `node ${quoted} cannot update extended resource claim status`)
}

async function restrictEviction(ctx: RequestContext, node: string, attributes: AdmissionAttributes): Promise<void> {
  const { operation, namespace, name } = attributes
  if (operation !== "CREATE") throw refuse(attributes, `unexpected operation ${operation}`)
  if (name === "") throw refuse(attributes, "could not determine pod from request data")
  const pod = await podOf(ctx, namespace, name)
  if (pod.spec?.nodeName !== node)
    throw refuse(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`)
}
