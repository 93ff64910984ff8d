// Service addresses of both families, as those of a super cluster with a range of each. They are not given out twice.

import type { Service } from "../../../apimachinery/object.ts"
import type { ServiceAddresses } from "../../../gateway/control-plane/service-addresses.ts"
import { completeFamilies, policyOf } from "../../../gateway/registry/core/services/families.ts"
import {
  isHeadless,
  needsClusterIP,
  needsHealthCheckPort,
  needsNodePorts,
  type ServiceSpec,
  specOf,
} from "../../../gateway/registry/core/services/needs.ts"
import type { Claim } from "../../../gateway/registry/claim.ts"

/** Of kube-apiserver. */
export const dualStackFlags: readonly string[] = ["--service-cluster-ip-range=10.96.0.0/16,fd00::1:0/112"]

const nothing: Claim = { commit() {}, async rollback() {} }

export class DualStackAddresses implements ServiceAddresses {
  #last = 256

  async claim(service: Service): Promise<Claim> {
    const spec = specOf(service)
    if (needsClusterIP(spec)) this.#giveAddresses(spec)
    if (needsNodePorts(spec)) for (const port of spec.ports ?? []) port.nodePort ||= this.#port()
    if (needsHealthCheckPort(spec)) spec.healthCheckNodePort ||= this.#port()
    return nothing
  }

  async release(): Promise<void> {}

  #giveAddresses(spec: ServiceSpec): void {
    spec.ipFamilyPolicy = policyOf(spec)
    completeFamilies(spec)
    if (isHeadless(spec)) return
    const asked = spec.clusterIPs ?? []
    const given = (spec.ipFamilies ?? []).map((family, index) => asked[index] || this.#address(family))
    spec.clusterIPs = given
    spec.clusterIP = given[0] ?? ""
  }

  #address(family: string): string {
    const number = ++this.#last
    return family === "IPv4" ? `10.96.${number >> 8}.${number & 255}` : `fd00::1:${number.toString(16)}`
  }

  #port(): number {
    return 30_000 + ++this.#last
  }
}
