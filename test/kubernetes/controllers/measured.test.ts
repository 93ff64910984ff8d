// Where there are metrics APIs, of which autoscalers ask every second, and nodes that have zones.

import { endUpAlike } from "./alike.ts"
import { measuredScenarios } from "./scenarios/measured.ts"

endUpAlike("our controllers and the real ones, with metrics, end up the same when a", measuredScenarios, {
  metrics: true,
})
