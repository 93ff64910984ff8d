// What is left of the numbers that a Service asks for when super refuses some: the address, the health check port and node ports are given
// up one by one, so that nobody else gets those that it could keep.

import type { Service } from "../../apimachinery/object.ts"
import { hasReason, type StatusError } from "../../apimachinery/status.ts"

type Spec = NonNullable<Service["spec"]>
export type Port = NonNullable<Spec["ports"]>[number]

/**
 * Without the numbers that `error` names: for any address and port instead, or, in a patch, for the node ports that are there, as in
 * `present`. undefined: it names none of those that are asked for.
 */
export function withoutRefused(spec: Spec, error: StatusError, present?: Spec): Spec | undefined {
  if (isOfHealthCheckPort(error)) return withoutHealthCheckPort(spec)
  if (!hasReason(error, "Invalid")) return undefined
  const fields = (error.status.details?.causes ?? []).map(({ field = "" }) => field)
  const numbers = fields.flatMap((field) => refusedNodePort(spec, field) ?? [])
  if (numbers.length > 0) return { ...spec, ports: withoutNodePorts(spec.ports ?? [], numbers, present?.ports ?? []) }
  if (!fields.some((field) => addressField.test(field))) return undefined
  return isOfSecondAddress(spec, error) ? { ...spec, clusterIPs: spec.clusterIPs!.slice(0, 1) } : withoutAddress(spec)
}

/**
 * Somebody has them, who may be gone: a server gives numbers back only after others have seen that what had them is gone, or needs them no
 * more. And one that has just started does not know its ranges of addresses yet, so that none has the address. Source: ErrAllocated of
 * ipallocator and portallocator, ErrMismatchedNetwork of ipallocator.
 */
export const mayPass = ({ message }: StatusError): boolean =>
  /provided (IP|port) is already allocated|provided network does not match the current range/.test(message)

/** A server says that it has failed itself. Source: allocHealthCheckNodePort. */
const isOfHealthCheckPort = (error: StatusError): boolean =>
  error.message.includes("failed to allocate requested HealthCheck NodePort")

/** The other one, and the families, are super's to give. Source: allocIPs. */
const isOfSecondAddress = ({ clusterIPs: [, second] = [] }: Spec, { message }: StatusError): boolean =>
  second !== undefined && message.includes(`failed to allocate IP ${second}: `)

const addressField = /^spec\.(clusterIPs?|ipFamilies|ipFamilyPolicy)\b/
const nodePortField = /^spec\.ports\[(\d+)\]\.nodePort$/

function withoutHealthCheckPort({ healthCheckNodePort, ...others }: Spec): Spec | undefined {
  return healthCheckNodePort === undefined ? undefined : others
}

/** A headless Service asks for none. Families that super does not have come with the address. */
function withoutAddress({ clusterIP, clusterIPs: _addresses, ...others }: Spec): Spec | undefined {
  if (clusterIP === undefined || clusterIP === "" || clusterIP === "None") return undefined
  const { ipFamilies: _families, ipFamilyPolicy: _policy, ...rest } = others
  return rest
}

/** Ports of one number, such as those of TCP and UDP, may share the node port that one of them names. Source: initNodePorts. */
function refusedNodePort({ ports = [] }: Spec, field: string): number | undefined {
  const refused = ports[Number(nodePortField.exec(field)?.[1] ?? NaN)]
  if (refused === undefined) return undefined
  return (
    (refused.nodePort || ports.find(({ port, nodePort }) => port === refused.port && nodePort)?.nodePort) ?? undefined
  )
}

function withoutNodePorts(ports: readonly Port[], numbers: readonly number[], present: readonly Port[]): Port[] {
  return ports.map((port) => {
    const { nodePort = 0, ...others } = port
    if (!numbers.includes(nodePort)) return port
    const there = samePort(port, present)?.nodePort
    return there === undefined || there === nodePort ? others : { ...others, nodePort: there }
  })
}

/** The one with the fields that identify a port. */
export function samePort({ port, protocol = "TCP" }: Port, among: readonly Port[]): Port | undefined {
  return among.find((other) => other.port === port && (other.protocol ?? "TCP") === protocol)
}
