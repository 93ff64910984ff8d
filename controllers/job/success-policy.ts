// spec.successPolicy: when an Indexed Job succeeds before all of its indexes have. Pure.
// Source: k8s.io/kubernetes/pkg/controller/job/success_policy.go.

import type { Job } from "../../apimachinery/object.ts"
import { Indexes } from "./indexes.ts"

/** The message of the condition; undefined while no rule is met. */
export function metSuccessPolicy(job: Job, succeeded: Indexes): string | undefined {
  const { successPolicy, completions = 0 } = job.spec ?? {}
  if (successPolicy === undefined || succeeded.size === 0) return undefined
  const met = successPolicy.rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount
    const required = Indexes.parse(succeededIndexes, completions)
    if (required.size === 0) return false
    const count = required.common(succeeded)
    return count === required.size || (succeededCount !== undefined && count >= succeededCount)
  })
  return met < 0 ? undefined : `Matched rules at index ${met}`
}
