// The environment variables that a kubelet sets for the Services which a pod can see: NAME_SERVICE_HOST and the like. Source of the
// names: pkg/kubelet/envvars/envvars.go.

export interface ServiceAddress {
  name: string
  /** An address that works on the nodes. */
  clusterIP: string
  ports: readonly { name?: string; port: number; protocol?: string }[]
}

/** In the kubelet's order. Of two Services with the same name, the variables of the last one count. */
export function* serviceVariables(services: Iterable<ServiceAddress>): Generator<{ name: string; value: string }> {
  for (const { name, clusterIP, ports } of services) {
    const [first] = ports
    if (first === undefined) continue
    const prefix = variableName(name)
    yield { name: `${prefix}_SERVICE_HOST`, value: clusterIP }
    yield { name: `${prefix}_SERVICE_PORT`, value: String(first.port) }
    for (const port of ports) {
      if (port.name === undefined || port.name === "") continue
      yield { name: `${prefix}_SERVICE_PORT_${variableName(port.name)}`, value: String(port.port) }
    }
    for (const [index, port] of ports.entries()) {
      const protocol = port.protocol ?? "TCP"
      const url = `${protocol.toLowerCase()}://${bracketed(clusterIP)}:${port.port}`
      if (index === 0) yield { name: `${prefix}_PORT`, value: url }
      const portPrefix = `${prefix}_PORT_${port.port}_${protocol.toUpperCase()}`
      yield { name: portPrefix, value: url }
      yield { name: `${portPrefix}_PROTO`, value: protocol.toLowerCase() }
      yield { name: `${portPrefix}_PORT`, value: String(port.port) }
      yield { name: `${portPrefix}_ADDR`, value: clusterIP }
    }
  }
}

const variableName = (name: string): string => name.toUpperCase().replaceAll("-", "_")
const bracketed = (address: string): string => (address.includes(":") ? `[${address}]` : address)
