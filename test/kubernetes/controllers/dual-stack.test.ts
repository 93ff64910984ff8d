// Where Services may have addresses of IPv4, IPv6 or both, as their pods.

import { endUpAlike } from "./alike.ts"
import { dualStackScenarios } from "./scenarios/dual-stack.ts"

endUpAlike(
  "our controllers and the real ones, with two families of addresses, end up the same when a",
  dualStackScenarios,
  {
    dualStack: true,
  },
)
