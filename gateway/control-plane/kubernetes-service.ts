// The Service by which programs in a cluster find its API server: default/kubernetes, with the gateway's address as endpoint. Its
// ClusterIP is claimed like any other, so it is created by an ordinary create once the super cluster responds.

import { serviceNameLabel } from "../../apimachinery/core/endpoint-slices.ts"
import type { EndpointSlice, Endpoints, Service } from "../../apimachinery/object.ts"
import { endpoints, endpointSlices, services } from "../../client/resources.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { storageKey, storagePrefixOf } from "../registry/generic/storage/keys.ts"
import { keepObject } from "./keep-object.ts"

export interface AdvertisedAddress {
  /** Undefined if this machine has no address that others can use; there are no endpoints then. */
  address: string | undefined
  port: number
}

const namespace = "default"
const name = "kubernetes"
const keyOf = ({ group, resource }: Resource): string => storageKey(storagePrefixOf(group, resource), namespace, name)
export const kubernetesServiceKey = keyOf(services)
/** Of all that ensureKubernetesService creates. */
export const kubernetesServiceKeys: ReadonlySet<string> = new Set([services, endpoints, endpointSlices].map(keyOf))
const portName = "https"
const httpsPort = 443

/**
 * Idempotent: creates missing objects and corrects the endpoints, as upstream not the Service. Concurrently, so that they share one
 * flush to disk.
 */
export async function ensureKubernetesService(client: KubeClient, advertised: AdvertisedAddress): Promise<void> {
  const { address, port } = advertised
  await Promise.all([
    keepObject(client, services, service(port), () => undefined),
    ...(address === undefined ? [] : [ensureEndpoints(client, address, port), ensureSlice(client, address, port)]),
  ])
}

function ensureEndpoints(client: KubeClient, address: string, port: number): Promise<void> {
  const wanted = endpointsOf(address, port)
  return keepObject<Endpoints>(client, endpoints, wanted, (current) => {
    const labels = { ...current.metadata.labels, ...unmirrored }
    if (same(current.subsets, wanted.subsets) && same(current.metadata.labels, labels)) return undefined
    return { ...current, metadata: { ...current.metadata, labels }, subsets: wanted.subsets ?? [] }
  })
}

function ensureSlice(client: KubeClient, address: string, port: number): Promise<void> {
  const wanted = sliceOf(address, port)
  return keepObject<EndpointSlice>(client, endpointSlices, wanted, (current) => {
    const isCorrect = same(current.endpoints, wanted.endpoints) && same(current.ports, wanted.ports)
    // As upstream, nothing of it is kept, not even its annotations.
    return isCorrect && same(current.metadata.labels, wanted.metadata.labels) ? undefined : wanted
  })
}

const labels = { component: "apiserver", provider: "kubernetes" }

function service(targetPort: number): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace, name, labels },
    spec: {
      type: "ClusterIP",
      ipFamilyPolicy: "SingleStack",
      ports: [{ name: portName, port: httpsPort, protocol: "TCP", targetPort }],
    },
  }
}

/** Excludes the Endpoints from mirroring: the slice below is the gateway's own. */
const unmirrored = { "endpointslice.kubernetes.io/skip-mirror": "true" }

function endpointsOf(address: string, port: number): Endpoints {
  return {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { namespace, name, labels: unmirrored },
    subsets: [{ addresses: [{ ip: address }], ports: [{ name: portName, port, protocol: "TCP" }] }],
  }
}

function sliceOf(address: string, port: number): EndpointSlice {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { namespace, name, labels: { [serviceNameLabel]: name } },
    addressType: address.includes(":") ? ("IPv6" as const) : ("IPv4" as const),
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: portName, port, protocol: "TCP" }],
  }
}

/** Compares field by field, in the order of the API. */
function same(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b
  const keys = Object.keys(b)
  return (
    Object.keys(a).length === keys.length &&
    keys.every((key) => same((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]))
  )
}
