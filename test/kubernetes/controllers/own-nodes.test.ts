// Where scenarios make all nodes there are, so that each is alone in its clusters. They mostly wait.

import { endUpAlike } from "./alike.ts"
import { allNodesDownScenarios } from "./scenarios/all-nodes-down.ts"
import { manyNodesScenarios } from "./scenarios/many-nodes.ts"
import { recoveringZoneScenarios } from "./scenarios/recovering-zones.ts"
import { zoneScenarios } from "./scenarios/zones.ts"

endUpAlike(
  "our controllers and the real ones, without other nodes, end up the same when",
  [...allNodesDownScenarios, ...zoneScenarios, ...recoveringZoneScenarios, ...manyNodesScenarios],
  { nodes: false, atOnce: 1, pairs: 4 },
)
