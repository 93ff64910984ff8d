// Defaults of an autoscaler's behavior. Source: k8s.io/kubernetes/pkg/apis/autoscaling/v2/defaults.go.

import type * as models from "@kubernetes/client-node"
import type { Wire } from "../../../../apimachinery/object.ts"
import { isGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"

export type Rules = Wire<models.V2HPAScalingRules>

/** Modifies the behavior. */
export function defaultBehavior(behavior: { scaleUp?: Rules; scaleDown?: Rules } | undefined): void {
  if (behavior === undefined) return
  behavior.scaleUp = withDefaults(behavior.scaleUp, defaultUp())
  behavior.scaleDown = withDefaults(behavior.scaleDown, defaultDown())
}

/** An explicitly empty list of policies stays empty; missing fields get defaults. */
function withDefaults(rules: Rules = {}, defaults: Rules): Rules {
  return { ...defaults, ...rules, ...(isGivenEmpty(rules, "policies") ? { policies: [] } : {}) }
}

function defaultUp(): Rules {
  return {
    stabilizationWindowSeconds: 0,
    selectPolicy: "Max",
    policies: [
      { type: "Pods", value: 4, periodSeconds: 15 },
      { type: "Percent", value: 100, periodSeconds: 15 },
    ],
  }
}

function defaultDown(): Rules {
  return { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] }
}
