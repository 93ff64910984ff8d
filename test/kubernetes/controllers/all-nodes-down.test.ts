// Where no node is left that works, so that each scenario is alone in the cluster.

import { endUpAlike } from "./alike.ts"
import { allNodesDownScenarios } from "./scenarios/all-nodes-down.ts"

endUpAlike("our controllers and the real ones, without other nodes, end up the same when", allNodesDownScenarios, {
  nodes: false,
  atOnce: 1,
})
