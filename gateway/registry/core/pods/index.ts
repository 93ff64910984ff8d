// Everything specific to pods.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import type { KindExtension, SubresourceHandler } from "../../strategy.ts"
import { binding } from "./binding.ts"
import { log } from "./connect/log.ts"
import { proxy } from "./connect/proxy.ts"
import { attach, exec, portForward } from "./connect/streams.ts"
import { ephemeralContainers } from "./ephemeral-containers.ts"
import { eviction } from "./eviction.ts"
import { resize } from "./resize.ts"
import { podStrategy } from "./strategy.ts"

/** Connections rather than objects. */
const connections: Readonly<Record<string, SubresourceHandler>> = dictionary({
  log,
  exec,
  attach,
  portforward: portForward,
  proxy,
})

export const pods: KindExtension = {
  strategy: podStrategy,
  subresources: { binding, eviction, ephemeralcontainers: ephemeralContainers, resize, ...connections },
}
