// The Service every program in a cluster finds its API server by: default/kubernetes, with the gateway's address behind it.
// Its ClusterIP is claimed like any other's, so it is made by an ordinary create, once the super cluster answers.

import { isAlreadyExists, isNotFound } from "../../apimachinery/status.ts"
import type { EndpointSlice, Endpoints, KubeObject, Service } from "../../apimachinery/object.ts"
import { endpoints, endpointSlices, services } from "../../client/resources.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { storageKey, storagePrefixOf } from "../registry/keys.ts"

export interface AdvertisedAddress {
  /** Undefined: this machine has none that others could use; then there are no endpoints. */
  address: string | undefined
  port: number
}

const namespace = "default"
const name = "kubernetes"
export const kubernetesServiceKey = storageKey(storagePrefixOf("", services.resource), namespace, name)
const portName = "https"
const httpsPort = 443

/** Idempotent: makes what is missing and corrects where it leads. All at once, so that one flush to disk serves them. */
export async function ensureKubernetesService(client: KubeClient, advertised: AdvertisedAddress): Promise<void> {
  const { address, port } = advertised
  await Promise.all([
    ensure(client, services, service(port), () => undefined),
    ...(address === undefined ? [] : [ensureEndpoints(client, address, port), ensureSlice(client, address, port)]),
  ])
}

function ensureEndpoints(client: KubeClient, address: string, port: number): Promise<void> {
  const wanted = endpointsOf(address, port)
  return ensure<Endpoints>(client, endpoints, wanted, (current) =>
    same(current.subsets, wanted.subsets) ? undefined : { ...current, subsets: wanted.subsets ?? [] },
  )
}

function ensureSlice(client: KubeClient, address: string, port: number): Promise<void> {
  const wanted = sliceOf(address, port)
  return ensure<EndpointSlice>(client, endpointSlices, wanted, (current) =>
    same(current.endpoints, wanted.endpoints) && same(current.ports, wanted.ports)
      ? undefined
      : { ...current, endpoints: wanted.endpoints ?? [], ports: wanted.ports ?? [] },
  )
}

async function ensure<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  wanted: T,
  correct: (current: T) => T | undefined,
): Promise<void> {
  try {
    const corrected = correct(await client.get<T>(resource, namespace, name))
    if (corrected !== undefined) await client.update(resource, corrected)
  } catch (error) {
    if (!isNotFound(error)) throw error
    await create(client, resource, wanted)
  }
}

async function create(client: KubeClient, resource: Resource, wanted: KubeObject): Promise<void> {
  try {
    await client.create(resource, wanted)
  } catch (error) {
    // Somebody else was first (the endpoints of a Service are also a controller's business).
    if (!isAlreadyExists(error)) throw error
  }
}

const labels = { component: "apiserver", provider: "kubernetes" }

function service(targetPort: number): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace, name, labels },
    spec: { type: "ClusterIP", ports: [{ name: portName, port: httpsPort, protocol: "TCP", targetPort }] },
  }
}

/** The mirroring controller leaves it alone: the slice below is the gateway's own. */
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
    metadata: { namespace, name, labels: { "kubernetes.io/service-name": name } },
    addressType: address.includes(":") ? ("IPv6" as const) : ("IPv4" as const),
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: portName, port, protocol: "TCP" }],
  }
}

/** Field for field, in the order the API gives them. */
function same(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b
  const keys = Object.keys(b)
  return (
    Object.keys(a).length === keys.length &&
    keys.every((key) => same((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]))
  )
}
