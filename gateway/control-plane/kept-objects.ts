// The initial objects that kube-apiserver keeps: it creates them again after they were deleted, and corrects some of them. Nothing is
// read of those that have never been written since the control plane was made.

import type { ServiceCIDR } from "../../apimachinery/object.ts"
import { configMaps, namespaces, serviceCIDRs } from "../../client/resources.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { withFieldManager } from "../../client/writes-as.ts"
import { baseRevision } from "../../storage/base-layer.ts"
import { serverManager } from "../registry/generic/internal-write.ts"
import { storageKey, storagePrefixOf } from "../registry/generic/storage/keys.ts"
import type { ControlPlane } from "./control-plane.ts"
import { defaultServiceCIDR, readyServiceCIDR, serviceCIDRManager, serviceCIDRName } from "./default-service-cidr.ts"
import {
  authenticationName,
  correctedAuthentication,
  extensionAuthentication,
  type CallerAuthorities,
} from "./extension-authentication.ts"
import { keepObject, unlessGone } from "./keep-object.ts"
import { correctedTracking, tokenTracking, trackingName } from "./token-tracking.ts"

const keyOf = ({ group, resource }: Resource, namespace: string, name: string): string =>
  storageKey(storagePrefixOf(group, resource), namespace, name)

/** Of these, only kube-node-lease can be deleted. */
const systemNamespaces = ["kube-system", "kube-public", "kube-node-lease", "default"]

/** By their keys. */
export type KeptObjects = ReadonlyMap<string, Keep>

type Keep = (controlPlane: ControlPlane, client: KubeClient) => Promise<void>

/** `serviceRanges`: the ranges of Service addresses, if there are any. */
export function keptObjects(serviceRanges: readonly string[]): KeptObjects {
  const kept = new Map<string, Keep>()
  for (const name of systemNamespaces) kept.set(keyOf(namespaces, "", name), keepNamespace(name))
  const system = "kube-system"
  kept.set(keyOf(configMaps, system, trackingName), (_controlPlane, client) => {
    const today = new Date().toISOString().slice(0, "yyyy-mm-dd".length)
    return keepObject(client, configMaps, tokenTracking(today), (current) => correctedTracking(current, today))
  })
  kept.set(keyOf(configMaps, system, authenticationName), ({ trust }, client) => {
    const authorities: CallerAuthorities = {
      client: trust.clientCertificateAuthority.certificate,
      frontProxy: trust.frontProxyAuthority.certificate,
    }
    return keepObject(client, configMaps, extensionAuthentication(authorities), (current) =>
      correctedAuthentication(current, authorities),
    )
  })
  if (serviceRanges.length > 0) kept.set(keyOf(serviceCIDRs, "", serviceCIDRName), keepServiceCIDR(serviceRanges))
  return kept
}

/** Idempotent. */
export async function ensureKept(controlPlane: ControlPlane, kept: KeptObjects): Promise<void> {
  const client = withFieldManager(controlPlane.client, serverManager)
  for (const [key, keepIt] of kept) {
    const stored = await controlPlane.store.get(key)
    if (stored?.modRevision !== baseRevision) await keepIt(controlPlane, client)
  }
}

function keepNamespace(name: string): Keep {
  return (_controlPlane, client) =>
    keepObject(client, namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } }, () => undefined)
}

function keepServiceCIDR(ranges: readonly string[]): Keep {
  return async (_controlPlane, client) => {
    await keepObject(client, serviceCIDRs, defaultServiceCIDR(ranges), () => undefined)
    const current = await client.get<ServiceCIDR>(serviceCIDRs, undefined, serviceCIDRName).catch(unlessGone)
    const ready = current && readyServiceCIDR(current, ranges)
    if (ready === undefined) return
    const options = { type: "apply", subresource: "status", force: true, fieldManager: serviceCIDRManager } as const
    await client.patch(serviceCIDRs, undefined, serviceCIDRName, ready, options).catch(unlessGone)
  }
}
