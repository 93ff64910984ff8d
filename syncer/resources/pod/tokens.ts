// The Secret in super that contains one pod's service account tokens. The tenant's control plane issues them, bound to the tenant's
// pod, with the lifetime that the pod requests. They are renewed before they expire, and deleted with the pod.

import { createHash } from "node:crypto"
import { timestamp, type KubeObject, type Pod, type Secret } from "../../../apimachinery/object.ts"
import {
  clusterAnnotation,
  controlledLabel,
  namespaceAnnotation,
  superNamespace,
  tokenDigestAnnotation,
  tokenPodNameAnnotation,
  tokenPodUIDAnnotation,
  tokenRefreshAnnotation,
  uidAnnotation,
} from "../../../apimachinery/tenancy.ts"
import { serviceAccounts } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import type { Tenant } from "../../../client/tenants.ts"
import { recordedOwner } from "../../conversion/ownership.ts"
import { syncerLimits } from "../../options.ts"
import { tokenSecretName, tokenSources, type TokenSource } from "./mutators/service-account-token.ts"

interface TokenRequest extends KubeObject {
  spec: {
    audiences: string[]
    expirationSeconds: number
    boundObjectRef: { apiVersion: string; kind: string; name: string; uid: string }
  }
  status?: { token: string; expirationTimestamp: string }
}

/** Requests the pod's tokens from the tenant. Returns the Secret to store, and when to renew the tokens (ms since the epoch). */
export async function issueTokens(
  pod: Pod,
  tenant: Tenant,
  client: KubeClient,
  now: number,
): Promise<{ secret: Secret; refreshAt: number } | undefined> {
  const sources = tokenSources(pod)
  if (sources.length === 0) return undefined
  const { namespace = "", name = "", uid = "" } = pod.metadata
  const data: Record<string, string> = {}
  let refreshAt = Number.POSITIVE_INFINITY
  for (const source of sources) {
    const { token, expires } = await requestToken(pod, source, client)
    data[source.key] = Buffer.from(token).toString("base64")
    const { tokenRefreshShare, tokenRefreshMinMs } = syncerLimits
    refreshAt = Math.min(refreshAt, now + Math.max(tokenRefreshMinMs, (expires - now) * tokenRefreshShare))
  }
  const refresh = timestamp(new Date(refreshAt))
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: tokenSecretName(uid),
      namespace: superNamespace(tenant.clusterKey, namespace),
      labels: { [controlledLabel]: "true" },
      annotations: {
        [clusterAnnotation]: tenant.clusterKey,
        [namespaceAnnotation]: namespace,
        [tokenPodNameAnnotation]: name,
        [tokenPodUIDAnnotation]: uid,
        [tokenRefreshAnnotation]: refresh,
        [tokenDigestAnnotation]: digestOf(sources, data, refresh),
      },
    },
    type: "Opaque",
    data,
  }
  return { secret, refreshAt }
}

/**
 * When the tokens in the Secret are due (ms since the epoch); 0 if that is not recorded, or the Secret is not as it was issued: somebody in super
 * has changed it.
 */
export function refreshDue(pod: Pod, secret: Secret, tenant: Tenant): number {
  const { data = {}, metadata } = secret
  const { annotations = {} } = metadata
  const sources = tokenSources(pod)
  if (sources.some(({ key }) => data[key] === undefined) || !isMarked(secret, pod, tenant)) return 0
  const refresh = annotations[tokenRefreshAnnotation] ?? ""
  // Those of earlier versions have none.
  const digest = annotations[tokenDigestAnnotation]
  if (digest !== undefined && digest !== digestOf(sources, data, refresh)) return 0
  const at = Date.parse(refresh)
  return Number.isNaN(at) ? 0 : at
}

/** It says whose it is. */
export function isMarked(secret: Secret, { metadata }: Pod, { clusterKey }: Tenant): boolean {
  const { [tokenPodUIDAnnotation]: uid, [tokenPodNameAnnotation]: name } = secret.metadata.annotations ?? {}
  const owner = recordedOwner(secret)
  const isOfNamespace = owner?.clusterKey === clusterKey && owner.namespace === metadata.namespace
  return uid === metadata.uid && name === metadata.name && isOfNamespace
}

function digestOf(sources: readonly TokenSource[], data: Readonly<Record<string, string>>, refresh: string): string {
  const digest = createHash("sha256").update(refresh)
  for (const { key } of sources) digest.update(`\n${data[key] ?? ""}`)
  return digest.digest("base64")
}

/**
 * When the first of the tokens in the Secret expires, if each has the lifetime that the pod asks for (ms since the epoch). Undefined: nobody
 * knows, they are due anyway.
 */
export function expiryOf(pod: Pod, secret: Secret, tenant: Tenant): number | undefined {
  const due = refreshDue(pod, secret, tenant)
  const shortest = Math.min(...tokenSources(pod).map(({ expirationSeconds }) => expirationSeconds))
  return due === 0 ? undefined : due + shortest * 1000 * (1 - syncerLimits.tokenRefreshShare)
}

/** A pod that has ended needs no more tokens. */
export function needsTokens(pod: Pod): boolean {
  const phase = pod.status?.phase
  return tokenSources(pod).length > 0 && phase !== "Succeeded" && phase !== "Failed"
}

/** Also if somebody in super has removed what says so: a copy of a Secret of the tenant's, which may have any name, says of which it is. */
export function isTokenSecret({ metadata: { name = "", annotations } }: KubeObject): boolean {
  if (annotations?.[tokenPodUIDAnnotation] !== undefined) return true
  return name.startsWith(tokenSecretName("")) && annotations?.[uidAnnotation] === undefined
}

async function requestToken(
  pod: Pod,
  { audience, expirationSeconds }: TokenSource,
  client: KubeClient,
): Promise<{ token: string; expires: number }> {
  const { namespace = "", name = "", uid = "" } = pod.metadata
  const request: TokenRequest = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: { namespace, name: pod.spec?.serviceAccountName ?? "default" },
    spec: {
      audiences: audience === undefined ? [] : [audience],
      expirationSeconds,
      boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
    },
  }
  const { status } = await client.create(serviceAccounts, request, { subresource: "token" })
  if (status === undefined) throw new Error(`token for pod "${namespace}/${name}": the answer has no token`)
  return { token: status.token, expires: Date.parse(status.expirationTimestamp) }
}
