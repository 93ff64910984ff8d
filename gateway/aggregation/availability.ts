// Checks the availability of a server of an aggregated API: its Service, the Service's port, an endpoint, and a response to the
// discovery of its group version, which is returned. Source: k8s.io/kube-aggregator/pkg/controllers/status/remote.

import type { EndpointSlice, Service } from "../../apimachinery/object.ts"
import { isNotFound, StatusError } from "../../apimachinery/status.ts"
import type { Json } from "../../apimachinery/object.ts"
import { endpointSlices, services } from "../../client/resources.ts"
import { goError } from "../backends/go-errors.ts"
import type { Reader } from "../backends/service-endpoint.ts"
import type { RemoteAnswer } from "./remote.ts"
import { type APIService, defaultPort } from "../../client/api-services.ts"

export interface Availability {
  status: "True" | "False"
  reason: string
  message: string
  /** The APIResourceList of the group version, if it returned one, and its length. */
  resources?: Json
  bytes?: number
}

export interface AvailabilityParts {
  reader: Reader
  get(service: APIService, path: string): Promise<RemoteAnswer>
}

const no = (reason: string, message: string): Availability => ({ status: "False", reason, message })

export async function checkAvailability(parts: AvailabilityParts, service: APIService): Promise<Availability> {
  const { group = "", version = "", service: reference } = service.spec ?? {}
  const { name = "", namespace = "", port = defaultPort } = reference ?? {}
  const about = `service/${name} in ${JSON.stringify(namespace)}`
  const found = await parts.reader.get<Service>(services, namespace, name).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
  if (found === undefined) return no("ServiceNotFound", `${about} is not present`)
  if ((found.spec?.type ?? "ClusterIP") === "ClusterIP") {
    const missing = await findEndpoint(parts.reader, found, about, port)
    if (missing !== undefined) return missing
  }
  const path = `/apis/${group}/${version}`
  const { type, externalName = "" } = found.spec ?? {}
  const url = `https://${type === "ExternalName" ? externalName : `${name}.${namespace}.svc`}:${port}${path}`
  const failing = (why: string): Availability =>
    no("FailedDiscoveryCheck", `failing or missing response from ${url}: ${why}`)
  try {
    const { code, document, bytes } = await parts.get(service, path)
    if (code < 200 || code > 299) return failing(`bad status from ${url}: ${code}`)
    const passed: Availability = { status: "True", reason: "Passed", message: "all checks passed" }
    return document === undefined ? passed : { ...passed, resources: document, bytes }
  } catch (error) {
    // The Service leads nowhere.
    if (error instanceof StatusError) return no("FailedDiscoveryCheck", error.message)
    return failing(`Get "${url}": ${goError(error)}`)
  }
}

/** Returns undefined if there is one. */
async function findEndpoint(
  reader: Reader,
  { metadata, spec }: Service,
  about: string,
  port: number,
): Promise<Availability | undefined> {
  const servicePort = spec?.ports?.find((candidate) => candidate.port === port)
  if (servicePort === undefined) return no("ServicePortError", `${about} is not listening on port ${port}`)
  const { namespace = "", name = "" } = metadata
  const { items } = await reader.list<EndpointSlice>(endpointSlices, {
    namespace,
    labelSelector: `kubernetes.io/service-name=${name}`,
  })
  if (items.length === 0) return no("EndpointsNotFound", `cannot find endpointslices for ${about}`)
  const portName = servicePort.name ?? ""
  const isActive = items.some(
    ({ endpoints, ports }) =>
      endpoints?.some(({ conditions }) => conditions?.ready !== false) === true &&
      ports?.some((candidate) => (candidate.name ?? "") === portName && candidate.port !== undefined) === true,
  )
  if (isActive) return undefined
  const detail = `endpointslices for ${about} have no addresses with port name ${JSON.stringify(portName)}`
  return no("MissingEndpoints", detail)
}
