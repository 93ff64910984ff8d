// DaemonSet, with the fields that are used here.

import type { KubeObject, PodTemplateSpec } from "../../apimachinery/object.ts"
import type { Condition } from "../conditions.ts"

export interface DaemonSet extends KubeObject {
  spec?: {
    template?: PodTemplateSpec
    selector?: { matchLabels?: { [key: string]: string } }
    minReadySeconds?: number
    revisionHistoryLimit?: number
    updateStrategy?: {
      type?: string
      rollingUpdate?: { maxUnavailable?: number | string; maxSurge?: number | string }
    }
  }
  status?: DaemonSetStatus
}

export interface DaemonSetStatus {
  currentNumberScheduled: number
  desiredNumberScheduled: number
  numberMisscheduled: number
  numberReady: number
  updatedNumberScheduled?: number
  numberAvailable?: number
  numberUnavailable?: number
  observedGeneration?: number
  collisionCount?: number
  conditions?: Condition[]
}
