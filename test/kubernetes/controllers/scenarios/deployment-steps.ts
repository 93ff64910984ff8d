// Steps that scenarios of Deployments have in common.

import type { Step } from "../scenario.ts"

/** As "kubectl rollout undo" asked for it before apps/v1. */
export const rollBackTo = (revision: string): Step => ({
  patch: ["deployments", "web"],
  with: { metadata: { annotations: { "deprecated.deployment.rollback.to": revision } } },
})
export const annotated = (annotations: object): Step => ({
  patch: ["deployments", "web"],
  with: { metadata: { annotations } },
})
