// Resolves a Service of a control plane to one of its ready endpoints, a pod or a manually written address. Source:
// k8s.io/apiserver/pkg/util/proxy/proxy.go (ResolveEndpoint).

import { randomInt } from "node:crypto"
import { isIP } from "node:net"
import { serviceNameLabel } from "../../apimachinery/core/endpoint-slices.ts"
import type { EndpointSlice, Service } from "../../apimachinery/object.ts"
import { isNotFound, notFound, serviceUnavailable } from "../../apimachinery/status.ts"
import { endpointSlices, services } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"

export type Reader = Pick<KubeClient, "get" | "list">

export interface ServiceEndpoint {
  /** Undefined: only the address is known. */
  pod: { namespace: string; name: string } | undefined
  address: string
  port: number
}

interface ServiceReference {
  namespace: string
  name: string
}

/** Where kube-apiserver finds the Service by default, for messages and headers: its own address, not that of an endpoint. */
export function addressOf({ metadata, spec }: Service, port: number): string {
  const { type = "ClusterIP", clusterIP = "", externalName = "" } = spec ?? {}
  const { name = "", namespace = "" } = metadata
  const hasAddress = isIP(clusterIP) !== 0
  const host = type === "ExternalName" ? externalName : hasAddress ? clusterIP : `${name}.${namespace}.svc`
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}

/** By the Service's port number. Throws a StatusError: NotFound, or 503 with the reason. */
export async function resolveService(
  client: Reader,
  { namespace, name }: ServiceReference,
  port: number,
): Promise<ServiceEndpoint> {
  const {
    type,
    ports,
    externalName = "",
    ipFamilies,
  } = (await findService(client, { namespace, name }, port)).spec ?? {}
  if (type === "ExternalName") return { pod: undefined, address: externalName, port }
  const portName = ports?.find((candidate) => candidate.port === port)?.name ?? ""
  const endpoint = await pickEndpoint(client, { namespace, name }, portName, ipFamilies?.[0])
  if (endpoint === undefined) throw serviceUnavailable(`no endpoints available for service "${name}"`)
  return endpoint
}

/** One that has the port. Throws as resolveService(). */
export async function findService(
  client: Pick<Reader, "get">,
  { namespace, name }: ServiceReference,
  port: number,
): Promise<Service> {
  const service = await client.get<Service>(services, namespace, name).catch((error: unknown) => {
    throw isNotFound(error) ? notFound({ group: "", resource: "service" }, name) : error
  })
  const { type, ports } = service.spec ?? {}
  const hasPort = type === "ExternalName" || ports?.some((candidate) => candidate.port === port) === true
  if (!hasPort) throw serviceUnavailable(`no service port ${port} found for service "${name}"`)
  return service
}

/** A random ready endpoint with a port of that name. */
async function pickEndpoint(
  client: Reader,
  { namespace, name }: ServiceReference,
  portName: string,
  family: string | undefined,
): Promise<ServiceEndpoint | undefined> {
  const { items } = await client.list<EndpointSlice>(endpointSlices, {
    namespace,
    labelSelector: `${serviceNameLabel}=${name}`,
  })
  const preferred = items.filter(({ addressType }) => addressType === family)
  for (const slices of [preferred, items]) {
    const candidates = slices.flatMap((slice) => endpointsOf(slice, namespace, portName))
    if (candidates.length > 0) return candidates[randomInt(candidates.length)]
  }
  return undefined
}

function endpointsOf({ endpoints, ports }: EndpointSlice, namespace: string, portName: string): ServiceEndpoint[] {
  const port = ports?.find((candidate) => (candidate.name ?? "") === portName)?.port
  if (port === undefined) return []
  return (endpoints ?? []).flatMap(({ addresses, conditions, targetRef }) => {
    const [address] = addresses
    if (address === undefined || conditions?.ready === false) return []
    const isPod = targetRef?.kind === "Pod" && targetRef.name !== undefined && targetRef.namespace === namespace
    return [{ pod: isPod ? { namespace, name: targetRef.name ?? "" } : undefined, address, port }]
  })
}
