// Where an aggregated API is out of reach, so that each scenario is alone in the cluster.

import { endUpAlike } from "./alike.ts"
import { unavailableApiScenarios } from "./scenarios/unavailable-api.ts"

endUpAlike(
  "our controllers and the real ones, while an API is out of reach, end up the same when a",
  unavailableApiScenarios,
  {
    atOnce: 1,
  },
)
