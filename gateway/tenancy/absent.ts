// What a control plane has when nobody gave it more: Services with addresses and nodes are refused, and say why.

import { serviceUnavailable } from "../../apimachinery/status.ts"
import type { NodeDialer } from "./node-dialer.ts"
import type { ServiceAddresses } from "./service-addresses.ts"

/** Services without addresses of their own (headless, ExternalName) work. */
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
}
