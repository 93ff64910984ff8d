import type { Job } from "../../apimachinery/object.ts"
import { findCondition } from "../conditions.ts"

export function isFinishedJob(job: Job): boolean {
  return ["Complete", "Failed"].some((type) => findCondition(job.status?.conditions, type)?.status === "True")
}
