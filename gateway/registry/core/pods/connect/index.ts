// The subresources of pods that are connections rather than objects.

import { dictionary } from "../../../../../apimachinery/dictionary.ts"
import type { SubresourceHandler } from "../../../strategy.ts"
import { log } from "./log.ts"
import { proxy } from "./proxy.ts"
import { attach, exec, portForward } from "./streams.ts"

export const podConnections: Readonly<Record<string, SubresourceHandler>> = dictionary({
  log,
  exec,
  attach,
  portforward: portForward,
  proxy,
})
