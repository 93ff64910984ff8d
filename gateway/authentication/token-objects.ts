// The objects that service account tokens depend on: their account and what they are bound to. A token is valid only while these
// exist. Source: k8s.io/kubernetes/pkg/serviceaccount/claims.go.

import type { KubeObject, Secret, ServiceAccount } from "../../apimachinery/object.ts"
import { hasReason, isNotFound, notFound, unauthorized } from "../../apimachinery/status.ts"
import { nodes, pods, secrets, serviceAccounts } from "../../client/resources.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"

/** Objects being deleted still count for this long, to allow for clock skew. */
const deletionLeewayMs = 60_000

interface Reference {
  name: string
  uid: string
}

export interface KubernetesClaims {
  namespace: string
  serviceaccount: Reference
  pod?: Reference
  secret?: Reference
  node?: Reference
  /** The requested end of a token that is valid for longer, in seconds since the epoch. */
  warnafter?: number
}

/** Reads the objects that tokens depend on; the control plane's own client. */
export type Reader = Pick<KubeClient, "get">

export async function nodeOf(reader: Reader, pod: KubeObject): Promise<Reference | undefined> {
  const { nodeName } = (pod["spec"] ?? {}) as { nodeName?: string }
  if (nodeName === undefined || nodeName === "") return undefined
  const node = await readOptional(reader, nodes, undefined, nodeName)
  // As upstream: a node that does not exist is named without a uid.
  return { name: nodeName, uid: node?.metadata.uid ?? "" }
}

/**
 * Returns the account, the node, and the Secret. The syncer requests tokens before their pod is scheduled, whereas a kubelet does
 * so afterwards: such a token does not contain the node, but its pod does.
 */
export async function checkObjects(
  reader: Reader,
  claims: KubernetesClaims,
): Promise<{ account: ServiceAccount; node: Reference | undefined; secret: Secret | undefined }> {
  const { namespace, serviceaccount, pod, secret, node } = claims
  const account: ServiceAccount = await checkObject(reader, kinds.account, namespace, serviceaccount)
  const holder = secret === undefined ? undefined : await checkObject(reader, kinds.secret, namespace, secret)
  const bound = { account, secret: holder }
  if (pod === undefined) {
    if (node !== undefined) await checkObject(reader, kinds.node, undefined, node)
    return { ...bound, node }
  }
  const object = await checkObject(reader, kinds.pod, namespace, pod)
  return { ...bound, node: node ?? (await nodeOf(reader, object)) }
}

/** What a token depends on, with upstream's words for another object of that name, for none and for one that is being deleted. */
interface DependedOn {
  resource: Resource
  claim: string
  gone: (namespace: string, name: string) => string
  leaving: (namespace: string, name: string) => string
}

const invalidated = (): string => "service account token has been invalidated"

const boundTo = (resource: Resource, title: string, kind: string): DependedOn => ({
  resource,
  claim: `${title} UID (?) does not match service account ${kind} ref claim`,
  gone: invalidated,
  leaving: invalidated,
})

const kinds = {
  account: {
    resource: serviceAccounts,
    claim: "service account UID (?) does not match claim",
    gone: (_namespace, name) => notFound(serviceAccounts, name).message,
    leaving: (namespace, name) => `service account ${namespace}/${name} has been deleted`,
  },
  secret: boundTo(secrets, "secret", "secret"),
  pod: boundTo(pods, "pod", "pod"),
  node: boundTo(nodes, "node", "node"),
} satisfies Record<string, DependedOn>

async function checkObject(
  reader: Reader,
  { resource, claim, gone, leaving }: DependedOn,
  namespace: string | undefined,
  { name, uid }: Reference,
): Promise<KubeObject> {
  const object = await readOptional(reader, resource, namespace, name)
  if (object === undefined) throw unauthorized(gone(namespace ?? "", name))
  const { deletionTimestamp, uid: own = "" } = object.metadata
  if (own !== uid) throw unauthorized(`${claim.replace("?", own)} (${uid})`)
  const leftAt = deletionTimestamp === undefined ? Number.POSITIVE_INFINITY : Date.parse(deletionTimestamp)
  if (leftAt < Date.now() - deletionLeewayMs) throw unauthorized(leaving(namespace ?? "", name))
  return object
}

async function readOptional(
  reader: Reader,
  resource: Resource,
  namespace: string | undefined,
  name: string,
): Promise<KubeObject | undefined> {
  try {
    return await reader.get<KubeObject>(resource, namespace, name)
  } catch (error) {
    if (isNotFound(error) || hasReason(error, "BadRequest")) return undefined
    throw error
  }
}
