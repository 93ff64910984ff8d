// The subresources of pods that are connections rather than objects.

import { notImplemented } from "../../../../../apimachinery/status.ts"
import type { SubresourceHandler } from "../../../strategy.ts"
import { log } from "./log.ts"
import { attach, exec, portForward } from "./streams.ts"

/** The pods' network is the super cluster's; the gateway has no way into it. */
const proxy: SubresourceHandler = {
  connect: () => Promise.reject(notImplemented("pods/proxy is not supported: use port-forward")),
}

export const podConnections: Readonly<Record<string, SubresourceHandler>> = {
  log,
  exec,
  attach,
  portforward: portForward,
  proxy,
}
