// Objects of an aggregated API, which have owners and are owners, as others do.

import { programs } from "../aggregated/wardle.ts"
import { endUpAlike } from "./alike.ts"
import { aggregatedApiScenarios } from "./scenarios/aggregated-api.ts"

endUpAlike(
  "our controllers and the real ones, with an aggregated API, end up the same when a",
  aggregatedApiScenarios,
  { aggregated: true, programs },
)
