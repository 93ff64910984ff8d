// Environment variables for services: those of the tenant, with addresses that work on the nodes. The kubelet would set those of the
// super namespace. Source of the names: pkg/kubelet/envvars/envvars.go.

import type { Container } from "../../../../apimachinery/object.ts"
import { requestEntityTooLarge } from "../../../../apimachinery/status.ts"
import { mapContainers, withSpec, type PodContext, type PodMutator, type ServiceAddress } from "../context.ts"

type EnvVar = NonNullable<Container["env"]>[number]

/**
 * A name, not an address: the API server's certificate is valid for names, which are the same for every tenant, and host aliases
 * (host-aliases.ts) make it resolve without DNS.
 */
const kubernetesHost = "kubernetes"

export const serviceEnv: PodMutator = {
  name: "serviceEnv",
  mutate: (pod, context) =>
    withSpec(pod, (spec) => {
      const variables = serviceVariables(context, spec.enableServiceLinks !== false)
      checkNumber(variables.length * (spec.containers.length + (spec.initContainers?.length ?? 0)))
      return mapContainers(spec, (container) => {
        const own = new Set(container.env?.map(({ name }) => name))
        const added = variables.filter(({ name }) => !own.has(name))
        // Prepended, so that the container's own variables can refer to them.
        return added.length === 0 ? container : { ...container, env: [...added, ...(container.env ?? [])] }
      })
    }),
}

/** Limit over all containers of a pod. More would exceed an API server's body limit, and this process would have to build them first. */
const maxVariables = 65_536

function checkNumber(variables: number): void {
  if (variables <= maxVariables) return
  throw requestEntityTooLarge(
    `${variables} environment variables for services are more than ${maxVariables}: set enableServiceLinks to false`,
  )
}

function serviceVariables({ kubernetes, services }: PodContext, links: boolean): EnvVar[] {
  // As in the kubelet: a service of the pod's namespace takes precedence over the one that is visible to every pod.
  const seen = new Map<string, ServiceAddress>()
  if (kubernetes !== undefined) seen.set(kubernetes.name, kubernetes)
  if (links) for (const service of services) seen.set(service.name, service)
  const variables = environmentOf([...seen.values()])
  const host: EnvVar = { name: "KUBERNETES_SERVICE_HOST", value: kubernetesHost }
  return [...variables.filter(({ name }) => name !== host.name), host]
}

/** Variables for services with an address, in the kubelet's order. */
export function environmentOf(services: readonly ServiceAddress[]): EnvVar[] {
  const result: EnvVar[] = []
  for (const { name, clusterIP, ports } of services) {
    const [first] = ports
    if (first === undefined) continue
    const prefix = variableName(name)
    result.push({ name: `${prefix}_SERVICE_HOST`, value: clusterIP })
    result.push({ name: `${prefix}_SERVICE_PORT`, value: String(first.port) })
    for (const port of ports) {
      if (port.name === undefined || port.name === "") continue
      result.push({ name: `${prefix}_SERVICE_PORT_${variableName(port.name)}`, value: String(port.port) })
    }
    for (const [index, port] of ports.entries()) {
      const protocol = port.protocol ?? "TCP"
      const url = `${protocol.toLowerCase()}://${bracketed(clusterIP)}:${port.port}`
      if (index === 0) result.push({ name: `${prefix}_PORT`, value: url })
      const portPrefix = `${prefix}_PORT_${port.port}_${protocol.toUpperCase()}`
      result.push({ name: portPrefix, value: url })
      result.push({ name: `${portPrefix}_PROTO`, value: protocol.toLowerCase() })
      result.push({ name: `${portPrefix}_PORT`, value: String(port.port) })
      result.push({ name: `${portPrefix}_ADDR`, value: clusterIP })
    }
  }
  return result
}

const variableName = (name: string): string => name.toUpperCase().replaceAll("-", "_")
const bracketed = (address: string): string => (address.includes(":") ? `[${address}]` : address)
