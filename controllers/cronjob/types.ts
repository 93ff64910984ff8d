// CronJob, with the fields that the controller uses.

import type { Job, KubeObject } from "../../apimachinery/object.ts"
import type { ObjectReference } from "../../client/object-reference.ts"

export interface CronJob extends KubeObject {
  spec?: {
    schedule?: string
    timeZone?: string
    suspend?: boolean
    concurrencyPolicy?: string
    startingDeadlineSeconds?: number | bigint
    successfulJobsHistoryLimit?: number
    failedJobsHistoryLimit?: number
    jobTemplate?: {
      metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }
      spec?: Job["spec"]
    }
  }
  status?: CronJobStatus
}

export interface CronJobStatus {
  active?: ObjectReference[]
  lastScheduleTime?: string
  lastSuccessfulTime?: string
}
