// Checks the availability of a server of an aggregated API: its Service, the Service's port, an endpoint, and a response to the
// discovery of its group version, which is returned. Source: k8s.io/kube-aggregator/pkg/controllers/status/remote.

import type { EndpointSlice, Service } from "../../apimachinery/object.ts"
import { isNotFound, StatusError } from "../../apimachinery/status.ts"
import { endpointSlices, services } from "../../client/resources.ts"
import { goError } from "../backends/go-errors.ts"
import { addressOf, type Reader } from "../backends/service-endpoint.ts"
import { type RemoteAnswer, UncallableServer } from "./remote.ts"
import type { VersionAnswer } from "./server-discovery.ts"
import { type APIService, defaultPort } from "../../client/api-services.ts"

export interface Availability {
  status: "True" | "False"
  reason: string
  message: string
  /** The server's, if it answered. */
  answer?: VersionAnswer
  /** The Service has no endpoint. */
  leadsNowhere?: true
}

interface AvailabilityParts {
  reader: Reader
  get(path: string): Promise<RemoteAnswer>
}

const no = (reason: string, message: string): Availability => ({ status: "False", reason, message })

/** Returns undefined if nothing can be said: the server cannot be called. */
export async function checkAvailability(
  parts: AvailabilityParts,
  service: APIService,
): Promise<Availability | undefined> {
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
  const url = `https://${addressOf(found, port)}${path}`
  const ask = (): Promise<Availability> => askServer(() => parts.get(path), url)
  const first = await ask().catch((error: unknown) => {
    if (error instanceof UncallableServer) return undefined
    throw error
  })
  if (first === undefined) return undefined
  if (first.status === "True" || first.leadsNowhere === true) return first
  // One of several endpoints may fail alone.
  const others = await Promise.all(Array.from({ length: attempts - 1 }, ask))
  return others.find(({ status }) => status === "True") ?? first
}

/** One of them must be answered. */
const attempts = 5

async function askServer(get: () => Promise<RemoteAnswer>, url: string): Promise<Availability> {
  const failing = (why: string): Availability =>
    no("FailedDiscoveryCheck", `failing or missing response from ${url}: ${why}`)
  try {
    const { code, document, bytes } = await get()
    const answer = { code, document, bytes }
    if (code < 200 || code > 299) return { ...failing(`bad status from ${url}: ${code}`), answer }
    return { status: "True", reason: "Passed", message: "all checks passed", answer }
  } catch (error) {
    if (error instanceof UncallableServer) throw error
    if (error instanceof StatusError) return { ...no("FailedDiscoveryCheck", error.message), leadsNowhere: true }
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
