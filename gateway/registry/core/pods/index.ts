// Everything specific to pods.

import type { KindExtension } from "../../strategy.ts"
import { binding } from "./binding.ts"
import { podConnections } from "./connect/index.ts"
import { ephemeralContainers } from "./ephemeral-containers.ts"
import { eviction } from "./eviction.ts"
import { resize } from "./resize.ts"
import { podStrategy } from "./strategy.ts"

export const pods: KindExtension = {
  strategy: podStrategy,
  subresources: { binding, eviction, ephemeralcontainers: ephemeralContainers, resize, ...podConnections },
}
