// HorizontalPodAutoscaler of autoscaling/v2 as the controller sees it: the API has applied the defaults.

import type * as models from "@kubernetes/client-node"
import type { KubeObject, Wire } from "../../apimachinery/object.ts"
import type { StandardCondition } from "../conditions.ts"

export type AutoscalerSpec = Wire<models.V2HorizontalPodAutoscalerSpec>
export type Metric = NonNullable<AutoscalerSpec["metrics"]>[number]
export type MetricStatus = Wire<models.V2MetricStatus>
export type ValueStatus = Wire<models.V2MetricValueStatus>
export type Behavior = NonNullable<AutoscalerSpec["behavior"]>
export type ScalingRules = NonNullable<Behavior["scaleUp"]>

export interface AutoscalerStatus {
  currentReplicas?: number
  desiredReplicas?: number
  lastScaleTime?: string
  currentMetrics?: MetricStatus[] | null
  conditions?: StandardCondition[]
}

export interface Autoscaler extends KubeObject {
  spec?: AutoscalerSpec
  status?: AutoscalerStatus
}
