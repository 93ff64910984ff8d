// The addresses of tenants' Services, which are those of their copies in the super cluster.

import type { Log } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"
import type { ServiceAddresses } from "../../gateway/control-plane/service-addresses.ts"
import { createServiceAddresses, SuperNamespaces } from "../../syncer/main.ts"

interface SuperAddressesOptions {
  superClient: () => KubeClient
  /** Of the super cluster's own Services. */
  ofSuper: () => ServiceAddresses
  tenantClient: (tenant: Tenant) => KubeClient
  /** Several gateways share the tenants. */
  isShared: boolean
  log: Log
}

/** Both clients are asked for at the first use: tenants are opened before the super cluster is known to respond. */
export function superAddressesOf(options: SuperAddressesOptions): (tenant: Tenant | undefined) => ServiceAddresses {
  const { superClient, isShared, log } = options
  const superNamespaces = new SuperNamespaces(superClient)
  return (tenant) => {
    if (tenant === undefined) return options.ofSuper()
    const tenantClient = (): KubeClient => options.tenantClient(tenant)
    const create = () => createServiceAddresses(superClient(), tenant, { tenantClient, superNamespaces, isShared, log })
    let created: ReturnType<typeof create> | undefined
    return {
      claim: (service, current) => (created ??= create()).claim(service, current),
      preview: (service, current) => (created ??= create()).preview(service, current),
      release: (service) => (created ??= create()).release(service),
    }
  }
}
