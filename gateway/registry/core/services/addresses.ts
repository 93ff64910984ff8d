// Service addresses of a control plane that has its own ranges: ClusterIPs from one IPv4 network, node ports from one range. Allocated
// numbers are kept in memory and read once from the existing services. A claim allocates its numbers before the service is written,
// so that concurrent writes never get the same one. Source: k8s.io/kubernetes/pkg/registry/core/service/storage/alloc.go.

import { type FieldError, FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import type { Service } from "../../../../apimachinery/object.ts"
import { internalError, invalid } from "../../../../apimachinery/status.ts"
import type { ServiceAddresses } from "../../../control-plane/service-addresses.ts"
import type { Claim } from "../../claim.ts"
import { completeFamilies, familyOf, policyOf } from "./families.ts"
import {
  isHeadless,
  isOfAnyFamily,
  needsClusterIP,
  needsHealthCheckPort,
  needsNodePorts,
  hasNodePorts,
  specOf,
  type ServiceSpec,
} from "./needs.ts"
import { AddressRange, PortRange } from "./range.ts"

interface RangeServiceAddressesOptions {
  /** IPv4, for example 10.96.0.0/16. */
  cidr: string
  /** Inclusive; default 30000–32767. */
  nodePorts?: { from: number; to: number }
  /** Lists the existing services; called once, before the first claim. */
  load: () => Promise<Iterable<Service>>
}

const path = FieldPath.root("spec")

/** Numbers allocated by a write in progress, and those it releases when it has succeeded. */
interface Held {
  addresses: string[]
  ports: number[]
  /** Of a dry run, which takes nothing: upstream makes up an address and ports, and asks only for the range of addresses. */
  isDry?: true
}

/** The next port of a dry run. */
const madeUp = ({ ports }: Held): number => (ports.length === 0 ? 32_769 : Math.max(...ports) + 1)

export class RangeServiceAddresses implements ServiceAddresses {
  readonly #addresses: AddressRange
  readonly #ports: PortRange
  readonly #load: () => Promise<Iterable<Service>>
  #loaded: Promise<void> | undefined

  constructor(options: RangeServiceAddressesOptions) {
    this.#addresses = new AddressRange(options.cidr)
    this.#ports = new PortRange(options.nodePorts?.from ?? 30_000, options.nodePorts?.to ?? 32_767)
    this.#load = options.load
  }

  async claim(service: Service, current: Service | undefined): Promise<Claim> {
    const taken: Held = { addresses: [], ports: [] }
    const [before, spec] = [current?.spec, specOf(service)]
    await this.#take(service, before, taken)
    const released = before === undefined ? { addresses: [], ports: [] } : surplus(before, spec)
    return {
      commit: () => this.#give(released),
      rollback: async () => this.#give(taken),
    }
  }

  async preview(service: Service, current: Service | undefined): Promise<void> {
    const tried: Held = { addresses: [], ports: [], isDry: true }
    await this.#take(service, current?.spec, tried)
  }

  async release(service: Service): Promise<void> {
    await this.#ready()
    if (service.spec !== undefined) this.#give(heldBy(service.spec))
  }

  async #take(service: Service, before: ServiceSpec | undefined, taken: Held): Promise<void> {
    await this.#ready()
    const spec = specOf(service)
    try {
      if (needsClusterIP(spec)) this.#claimAddress(service, spec, before, taken)
      this.#claimPorts(service, spec, before, taken)
    } catch (error) {
      this.#give(taken)
      throw error
    }
  }

  /** The next claim repeats a failed read. */
  #ready(): Promise<void> {
    this.#loaded ??= this.#read().catch((error: unknown) => {
      this.#loaded = undefined
      throw error
    })
    return this.#loaded
  }

  async #read(): Promise<void> {
    for (const { spec } of await this.#load()) {
      if (spec === undefined) continue
      const held = heldBy(spec)
      for (const address of held.addresses) this.#addresses.take(address)
      for (const port of held.ports) this.#ports.take(port)
    }
  }

  #claimAddress(service: Service, spec: ServiceSpec, before: ServiceSpec | undefined, taken: Held): void {
    const errors = setFamilies(spec)
    if (errors.length > 0) throw fault(service, ...errors)
    if (isHeadless(spec)) return
    const wanted = spec.clusterIPs?.[0] ?? ""
    if (before !== undefined && needsClusterIP(before) && !isHeadless(before) && before.clusterIPs?.[0] === wanted)
      return
    if (wanted === "") {
      const address = taken.isDry === true ? this.#addresses.network : this.#addresses.takeAny()
      if (address === undefined) {
        throw internalError(`failed to allocate a serviceIP for Service "${service.metadata.name}": range is full`)
      }
      spec.clusterIP = address
      spec.clusterIPs = [address]
      taken.addresses.push(address)
      return
    }
    const refuse = (why: string) =>
      fault(service, invalidValue(path.child("clusterIPs"), [wanted], `failed to allocate IP ${wanted}: ${why}`))
    if (taken.isDry === true) {
      if (this.#addresses.contains(wanted)) return
      const valid = `The range of valid IPs is ${this.#addresses.cidr}`
      throw refuse(`the provided IP (${wanted}) is not in the valid range. ${valid}`)
    }
    if (!this.#addresses.contains(wanted)) throw refuse("the provided network does not match the current range")
    if (!this.#addresses.take(wanted)) throw refuse("provided IP is already allocated")
    taken.addresses.push(wanted)
  }

  #claimPorts(service: Service, spec: ServiceSpec, before: ServiceSpec | undefined, taken: Held): void {
    if (hasNodePorts(spec)) {
      if (before === undefined) this.#claimNewPorts(service, spec, taken)
      else this.#claimChangedPorts(service, spec, before, taken)
    }
    if (!needsHealthCheckPort(spec)) return
    const asked = spec.healthCheckNodePort ?? 0
    if (asked === 0) spec.healthCheckNodePort = this.#anyPort(taken)
    else if (before === undefined || !heldBy(before).ports.includes(asked)) {
      const refusal = this.#takePort(asked, taken)
      if (refusal !== undefined)
        throw internalError(`failed to allocate requested HealthCheck NodePort ${asked}: ${refusal}`)
    }
  }

  /** The same port number over another protocol shares its node port, also one that is requested further down. */
  #claimNewPorts(service: Service, spec: ServiceSpec, taken: Held): void {
    const ports = spec.ports ?? []
    const shared = new Map<number, number>()
    for (const [index, port] of ports.entries()) {
      const asked = port.nodePort ?? 0
      if (asked === 0 && !needsNodePorts(spec)) continue
      const known = shared.get(port.port)
      const wanted = known === undefined ? ports.find((one) => one.port === port.port && one.nodePort)?.nodePort : asked
      if (known !== undefined && (asked === 0 || asked === known)) port.nodePort = known
      else if (wanted) this.#takeNodePort(service, index, (port.nodePort = wanted), taken)
      else port.nodePort = this.#anyPort(taken)
      if (known === undefined) shared.set(port.port, port.nodePort)
    }
  }

  /** Ports that an update adds share nothing that it does not request. */
  #claimChangedPorts(service: Service, spec: ServiceSpec, before: ServiceSpec, taken: Held): void {
    const had = new Set(heldBy(before).ports)
    for (const [index, port] of (spec.ports ?? []).entries()) {
      const asked = port.nodePort ?? 0
      if (asked === 0) {
        if (needsNodePorts(spec)) port.nodePort = this.#anyPort(taken)
      } else if (!had.has(asked) && !taken.ports.includes(asked)) this.#takeNodePort(service, index, asked, taken)
    }
  }

  #takeNodePort(service: Service, index: number, port: number, taken: Held): void {
    const refusal = this.#takePort(port, taken)
    if (refusal === undefined) return
    throw fault(service, invalidValue(path.child("ports").index(index).child("nodePort"), port, refusal))
  }

  /** Why it cannot be taken. */
  #takePort(port: number, taken: Held): string | undefined {
    const { from, to } = this.#ports
    if (taken.isDry === true) {
      if (this.#ports.isTaken(port) || taken.ports.includes(port)) return "provided port is already allocated"
      taken.ports.push(port)
      return undefined
    }
    if (!this.#ports.contains(port)) {
      return `provided port is not in the valid range. The range of valid ports is ${from}-${to}`
    }
    if (!this.#ports.take(port)) return "provided port is already allocated"
    taken.ports.push(port)
    return undefined
  }

  #anyPort(taken: Held): number {
    const port = taken.isDry === true ? madeUp(taken) : this.#ports.takeAny()
    if (port === undefined) throw internalError("failed to allocate a nodePort: range is full")
    taken.ports.push(port)
    return port
  }

  #give({ addresses, ports, isDry }: Held): void {
    if (isDry === true) return
    for (const address of addresses) this.#addresses.release(address)
    for (const port of ports) this.#ports.release(port)
  }
}

function fault(service: Service, ...errors: FieldError[]) {
  return invalid({ group: "", kind: "Service" }, service.metadata.name ?? "", errors)
}

function heldBy(spec: ServiceSpec): Held {
  const addresses = needsClusterIP(spec) ? (spec.clusterIPs ?? []).filter((address) => address !== "None") : []
  const ports = (spec.ports ?? []).flatMap((port) => (port.nodePort ? [port.nodePort] : []))
  if (spec.healthCheckNodePort) ports.push(spec.healthCheckNodePort)
  return { addresses, ports: [...new Set(ports)] }
}

function surplus(before: ServiceSpec, after: ServiceSpec): Held {
  const [had, has] = [heldBy(before), heldBy(after)]
  const [addresses, ports] = [new Set(has.addresses), new Set(has.ports)]
  return {
    addresses: had.addresses.filter((address) => !addresses.has(address)),
    ports: had.ports.filter((port) => !ports.has(port)),
  }
}

/** This cluster has only IPv4. */
function setFamilies(spec: ServiceSpec): FieldError[] {
  spec.ipFamilyPolicy = policyOf(spec)
  const families = (spec.ipFamilies ??= [])
  const foreign = addFamilies(spec.clusterIPs ?? [], families)
  if (foreign.length > 0) return foreign
  if (isOfAnyFamily(spec)) {
    completeFamilies(spec)
    return []
  }
  const errors: FieldError[] = []
  if (spec.ipFamilyPolicy === "RequireDualStack") {
    const detail = "this cluster is not configured for dual-stack services"
    errors.push(invalidValue(path.child("ipFamilyPolicy"), spec.ipFamilyPolicy, detail))
  }
  for (const [index, family] of families.entries()) {
    if (family === "IPv4") continue
    errors.push(invalidValue(path.child("ipFamilies").index(index), family, "not configured on this cluster"))
  }
  if (families.length === 0) families.push("IPv4")
  return errors
}

/** Sets the families of addresses that were requested without families. */
function addFamilies(addresses: readonly string[], families: string[]): FieldError[] {
  if (addresses[0] === "None") return []
  const errors: FieldError[] = []
  for (const [index, address] of addresses.entries()) {
    const family = familyOf(address)
    if (index < families.length) continue
    if (family === "IPv4") families.push(family)
    else {
      const at = path.child("clusterIPs").index(index)
      errors.push(invalidValue(at, addresses, `${family} is not configured on this cluster`))
    }
  }
  return errors
}
