// The Secret in super that holds the service-account tokens of one pod: issued by the tenant's control plane, bound to the
// tenant's pod, as short-lived as the pod asked for, issued anew before they end, gone with the pod.

import { timestamp, type KubeObject, type Pod, type Secret } from "../../../apimachinery/object.ts"
import {
  clusterAnnotation,
  controlledLabel,
  namespaceAnnotation,
  superNamespace,
  tokenPodNameAnnotation,
  tokenPodUIDAnnotation,
  tokenRefreshAnnotation,
} from "../../../apimachinery/tenancy.ts"
import { serviceAccounts } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import type { Tenant } from "../../../client/tenants.ts"
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

/** Asks the tenant for the pod's tokens; the Secret to keep them in, and when to ask again (ms since the epoch). */
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
    refreshAt = Math.min(refreshAt, now + (expires - now) * syncerLimits.tokenRefreshShare)
  }
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
        [tokenRefreshAnnotation]: timestamp(new Date(refreshAt)),
      },
    },
    type: "Opaque",
    data,
  }
  return { secret, refreshAt }
}

/** When the tokens in the Secret are due (ms since the epoch); 0 when it does not say or lacks one the pod needs. */
export function refreshDue(pod: Pod, secret: Secret): number {
  if (tokenSources(pod).some(({ key }) => secret.data?.[key] === undefined)) return 0
  const at = Date.parse(secret.metadata.annotations?.[tokenRefreshAnnotation] ?? "")
  return Number.isNaN(at) ? 0 : at
}

/** A pod that has ended, or is on its way out for good, needs no more tokens. */
export function needsTokens(pod: Pod): boolean {
  const phase = pod.status?.phase
  return tokenSources(pod).length > 0 && phase !== "Succeeded" && phase !== "Failed"
}

export function isTokenSecret(object: KubeObject): boolean {
  return object.metadata.annotations?.[tokenPodUIDAnnotation] !== undefined
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
