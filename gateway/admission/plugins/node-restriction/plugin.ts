// What a kubelet may write, beyond which objects (authorization/node.ts): its own node without labels that attract pods, its own pods'
// statuses, tokens of its own pods. Source: k8s.io/kubernetes/plugin/pkg/admission/noderestriction.

import type { CertificateSigningRequest, KubeObject, ResourceSlice } from "../../../../apimachinery/object.ts"
import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { goQuote } from "../../../../apimachinery/go/quote.ts"
import { ownValue } from "../../../../apimachinery/schema/json-object.ts"
import { nodeOfUser } from "../../../authorization/node-identity.ts"
import type { RequestContext } from "../../../request/context.ts"
import { semanticEqual } from "../../../registry/validation/equality.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../../chain.ts"
import { commonNameOf } from "../certificate-subject.ts"
import { objectAs, refuse } from "../refuse.ts"
import { restrictNode } from "./nodes.ts"
import { restrictPod } from "./pods.ts"
import { restrictToken } from "./tokens.ts"

/** Throws what the node may not do. */
type Restriction = (ctx: RequestContext, node: string, attributes: AdmissionAttributes) => void | Promise<void>

const restrictions: Readonly<Record<string, Restriction>> = dictionary({
  pods: restrictPod,
  nodes: (_ctx, node, attributes) => restrictNode(node, attributes),
  persistentvolumeclaims: (_ctx, node, attributes) => restrictClaim(node, attributes),
  serviceaccounts: restrictToken,
  "leases.coordination.k8s.io": (_ctx, node, attributes) => restrictLease(node, attributes),
  "csinodes.storage.k8s.io": (_ctx, node, attributes) => confirmOwnName(node, attributes, "CSINode"),
  "resourceslices.resource.k8s.io": (_ctx, node, attributes) => restrictSlice(node, attributes),
  "certificatesigningrequests.certificates.k8s.io": (_ctx, node, attributes) => restrictRequest(node, attributes),
})

export const nodeRestriction: AdmissionPlugin = {
  mutate(ctx, attributes) {
    const node = nodeOfUser(ctx.user)
    if (node === undefined || attributes.operation === "CONNECT") return
    if (node === "") throw refuse(attributes, `could not determine node from user ${goQuote(ctx.user.name)}`)
    const { group, resource } = attributes.resource
    return ownValue(restrictions, group === "" ? resource : `${resource}.${group}`)?.(ctx, node, attributes)
  },
}

function restrictClaim(node: string, attributes: AdmissionAttributes): void {
  const { subresource, operation, object, current } = attributes
  if (subresource !== "status") throw refuse(attributes, "may only update PVC status")
  if (operation !== "UPDATE") throw refuse(attributes, `unexpected operation ${goQuote(operation)}`)
  if (semanticEqual(withoutUsage(object), withoutUsage(current))) return
  throw refuse(
    attributes,
    `node ${goQuote(node)} is not allowed to update fields other than status.quantity and status.conditions: `,
  )
}

/** A claim without what its kubelet reports. */
function withoutUsage(claim: KubeObject | undefined): object {
  const { metadata, status, ...rest } = (claim ?? {}) as KubeObject & { status?: object }
  const unset = {
    capacity: undefined,
    conditions: undefined,
    allocatedResources: undefined,
    allocatedResourceStatuses: undefined,
  }
  return {
    ...rest,
    metadata: { ...metadata, resourceVersion: undefined, managedFields: undefined },
    status: { ...status, ...unset },
  }
}

const leaseNamespace = "kube-node-lease"

function restrictLease(node: string, attributes: AdmissionAttributes): void {
  if (attributes.namespace !== leaseNamespace)
    throw refuse(attributes, `can only access leases in the ${goQuote(leaseNamespace)} system namespace`)
  confirmOwnName(node, attributes, "node lease")
}

function confirmOwnName(node: string, attributes: AdmissionAttributes, what: string): void {
  const { operation, object, name } = attributes
  const given = operation === "CREATE" ? (object?.metadata.name ?? "") : name
  if (given !== node) throw refuse(attributes, `can only access ${what} with the same name as the requesting node`)
}

function restrictSlice(node: string, attributes: AdmissionAttributes): void {
  const { operation, object, current } = attributes
  if (operation === "UPDATE") return
  const slice = (operation === "CREATE" ? object : current) as ResourceSlice | undefined
  if (slice?.spec?.nodeName === node) return
  const verb = operation === "CREATE" ? "create" : "delete"
  throw refuse(attributes, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`)
}

const kubeletSigners = new Set(["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"])

function restrictRequest(node: string, attributes: AdmissionAttributes): void {
  if (attributes.operation !== "CREATE") return
  const { spec } = objectAs<CertificateSigningRequest>(attributes)
  if (!kubeletSigners.has(spec?.signerName ?? "")) return
  const name = commonNameOf(Buffer.from(spec?.request ?? "", "base64"))
  if (name !== `system:node:${node}`) throw refuse(attributes, `can only create a node CSR with CN=system:node:${node}`)
}
