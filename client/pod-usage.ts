// What the containers of a tenant's pods use, as the super cluster measures it.

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

export interface PodUsageSource {
  /** The pods of one namespace of the tenant that have been measured. Throws StatusError ServiceUnavailable. */
  ofNamespace(namespace: string, signal: AbortSignal): Promise<readonly PodUsage[]>
}
