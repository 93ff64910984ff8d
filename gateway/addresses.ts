// The addresses and names of a gateway: what it listens on, the names in its certificate, and what it advertises.

import { isIP } from "node:net"
import { networkInterfaces } from "node:os"
import type { GatewayOptions } from "./options.ts"
import type { AdvertisedAddress } from "./control-plane/kubernetes-service.ts"

export const defaultHost = "127.0.0.1"

/** The URL for clients, without a trailing slash. */
export function urlOf({ host = defaultHost, publicUrl }: GatewayOptions, port: number): string {
  return (publicUrl ?? `https://${printHost(host)}:${port}`).replace(/\/$/, "")
}

/** The addresses of the system are cached this long: every tenant that wakes needs them, and the call is slow. */
const addressMs = 10_000

/** Returns the address of the Service default/kubernetes of each control plane, given the port of the gateway. */
export function advertisedBy(options: GatewayOptions): (port: number) => AdvertisedAddress {
  const { host = defaultHost, advertiseAddress, advertisePort } = options
  let known: { address: string | undefined; at: number } | undefined
  return (port) => {
    const now = performance.now()
    if (known === undefined || now - known.at > addressMs)
      known = { address: advertiseAddress ?? advertisedAddress(host), at: now }
    return { address: known.address, port: advertisePort ?? port }
  }
}

/** All names that clients, including pods, may use. */
export function servingNames(options: GatewayOptions): string[] {
  const { host = defaultHost, domain, hostNames = [], advertiseAddress, publicUrl } = options
  const service = "kubernetes.default.svc"
  const names = [
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    service,
    `${service}.cluster.local`,
    ...(isUnspecified(host) ? localAddresses() : [host]),
    ...(domain === undefined ? [] : [domain, `*.${domain}`]),
    ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname.replace(/^\[|\]$/g, "")]),
    ...[advertiseAddress ?? advertisedAddress(host)].filter((address) => address !== undefined),
    ...hostNames,
  ]
  return [...new Set(names)]
}

/** The host stands for all addresses of this machine. */
const isUnspecified = (host: string): boolean => host === "0.0.0.0" || host === "::"
/** The host is reachable only from this machine. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."))

/** The address at which others reach this gateway. Endpoints must not be loopback addresses. */
function advertisedAddress(host: string): string | undefined {
  if (isIP(host) !== 0 && !isUnspecified(host) && !isLoopback(host)) return host
  return localAddresses()[0]
}

/** IPv4 first, without loopback and link-local addresses. */
function localAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const usable = all.filter(({ internal, address }) => !internal && !/^(169\.254\.|fe80:)/i.test(address))
  return [...usable.filter(({ family }) => family === "IPv4"), ...usable.filter(({ family }) => family === "IPv6")].map(
    ({ address }) => address,
  )
}

function printHost(host: string): string {
  if (isUnspecified(host)) return localAddresses()[0] ?? "127.0.0.1"
  return isIP(host) === 6 ? `[${host}]` : host
}
