// Warnings about ports of a pod's containers that are in each other's way. Source: k8s.io/kubernetes/pkg/api/pod/warnings.go.

import type { FieldPath } from "../../../../apimachinery/field-errors.ts"
import { containersWithPaths } from "./annotations.ts"
import type { Container, PodSpec } from "./types.ts"
import { maxWarnings } from "./volume-warnings.ts"

type Port = NonNullable<Container["ports"]>[number]

export function portWarnings(path: FieldPath, spec: PodSpec): string[] {
  const warnings: string[] = []
  const named: string[] = []
  const before = new PortsBefore()
  const names = new Map<string, FieldPath>()
  let room = maxWarnings
  for (const [container, { ports }] of containersWithPaths(path, spec)) {
    for (const [index, port] of (ports ?? []).entries()) {
      const at = container.child("ports").index(index)
      if (port.hostIP && !port.hostPort) {
        warnings.push(`${String(at)}: hostIP set without hostPort: ${shownPort(port)}`)
      }
      if (room > 0) {
        const overlapping = before.add(port, at).slice(0, room)
        for (const other of overlapping)
          warnings.push(`${String(at)}: ${overlapOf(port, other.port)} port definition with ${String(other.at)}`)
        room -= overlapping.length
      }
      const first = port.name ? names.get(port.name) : undefined
      if (first !== undefined) {
        named.push(
          `${String(at)}: duplicate port name ${JSON.stringify(port.name)} with ${String(first)}, services and probes that select ports by name will use ${String(first)}`,
        )
      } else if (port.name) names.set(port.name, at)
    }
  }
  return [...warnings, ...named]
}

/** As Go prints it. */
function shownPort({ name = "", containerPort, protocol = "", hostIP = "" }: Port): string {
  return `{Name:${name} HostPort:0 ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`
}

interface Known {
  port: Port
  at: FieldPath
  order: number
}

const none: readonly Known[] = []

/** The ports that have been looked at, so that each is compared only with those it overlaps. */
class PortsBefore {
  /** By number and protocol; by these and the host port; and by all of that and the host IP. */
  readonly #known = new Map<string, Known[]>()
  #count = 0

  /** Returns those before that it overlaps, in their order. */
  add(port: Port, at: FieldPath): readonly Known[] {
    const { hostPort: host = 0, hostIP = "" } = port
    const number = `${port.containerPort}/${port.protocol}`
    const ofHost = `${number} ${host}`
    const ofAddress = `${ofHost} ${hostIP}`
    const sameHost = hostIP === "" ? this.#of(ofHost) : [...this.#of(`${ofHost} `), ...this.#of(ofAddress)]
    const others = host === 0 ? this.#of(number) : [...this.#of(`${number} 0`), ...sameHost]
    const found = others.toSorted((a, b) => a.order - b.order)
    const known = { port, at, order: this.#count++ }
    for (const key of [number, ofHost, ofAddress]) {
      const list = this.#known.get(key)
      if (list === undefined) this.#known.set(key, [known])
      else list.push(known)
    }
    return found
  }

  #of(key: string): readonly Known[] {
    return this.#known.get(key) ?? none
  }
}

function overlapOf(port: Port, other: Port): string {
  const [host, otherHost] = [port.hostPort ?? 0, other.hostPort ?? 0]
  if ((port.hostIP ?? "") === (other.hostIP ?? "") && host === otherHost) return "duplicate"
  return host === 0 || otherHost === 0 ? "overlapping" : "dangerously ambiguous"
}
