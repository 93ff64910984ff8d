// What the containers of tenants' pods use, as the super cluster measures it.

import type { Tenant } from "./tenants.ts"

export interface ContainerUsage {
  name: string
  /** Quantities, such as {cpu: "1500n", memory: "2Mi"}. */
  usage: Readonly<Record<string, string>>
}

export interface PodUsage {
  /** Name of the pod. */
  name: string
  /** RFC 3339: end of the time in which it was measured. */
  timestamp: string
  /** The length of that time ("15.2s"). */
  window: string
  containers: readonly ContainerUsage[]
}

/** Of one tenant. */
export interface PodUsageSource {
  /** The pods of one of its namespaces that have been measured. Throws StatusError ServiceUnavailable. */
  ofNamespace(namespace: string, signal: AbortSignal): Promise<readonly PodUsage[]>
}

export interface PodUsageProvider {
  /** The super cluster measures pods at all: tenants have the API metrics.k8s.io. */
  readonly isServed: boolean
  /** Called after each change of it, until the returned function is called. */
  onChange(changed: () => void): () => void
  of(tenant: Tenant): PodUsageSource
}
