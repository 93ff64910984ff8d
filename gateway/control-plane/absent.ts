// Defaults for control planes without a super cluster: Services with addresses and access to nodes are refused with a reason.

import { serviceUnavailable } from "../../apimachinery/status.ts"
import type { NodeDialer } from "./node-dialer.ts"
import type { ServiceAddresses } from "./service-addresses.ts"

/** Services without their own addresses (headless, ExternalName) work. */
export const noServiceAddresses: ServiceAddresses = {
  claim: (service) => {
    if (service.spec?.clusterIP === "None" || service.spec?.type === "ExternalName")
      return Promise.resolve({ commit: () => undefined, rollback: () => Promise.resolve() })
    return Promise.reject(serviceUnavailable("service addresses are not available: no super cluster gives them out"))
  },
  release: () => Promise.resolve(),
}

export const noNodes: NodeDialer = {
  dial: () => Promise.reject(serviceUnavailable("nodes cannot be reached: the gateway knows no way to them")),
  limit: () => undefined,
}
