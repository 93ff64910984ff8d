// spec.podFailurePolicy: what a failed pod means to its Job. Pure. Source: k8s.io/kubernetes/pkg/controller/job/pod_failure_policy.go.

import type { Job, Pod } from "../../apimachinery/object.ts"

type Rule = NonNullable<NonNullable<Job["spec"]>["podFailurePolicy"]>["rules"][number]

export type Judgement = { action: "Count" | "Ignore" } | { action: "FailJob"; message: string }

/** The first rule that matches decides; without one the failure counts. */
export function judge(job: Job, pod: Pod): Judgement {
  for (const [index, rule] of (job.spec?.podFailurePolicy?.rules ?? []).entries()) {
    const matched = matchedBy(rule, pod)
    if (matched === undefined) continue
    if (rule.action === "Ignore") return { action: "Ignore" }
    if (rule.action === "FailJob") {
      return { action: "FailJob", message: `${matched} matching FailJob rule at index ${index}` }
    }
    return { action: "Count" }
  }
  return { action: "Count" }
}

function matchedBy({ onExitCodes, onPodConditions }: Rule, pod: Pod): string | undefined {
  const name = `${pod.metadata.namespace ?? ""}/${pod.metadata.name ?? ""}`
  if (onExitCodes !== undefined && onExitCodes !== null) {
    const { containerName, operator, values } = onExitCodes
    for (const status of [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]) {
      const code = status.state?.terminated?.exitCode
      if (code === undefined || code === 0) continue
      if (containerName !== undefined && containerName !== status.name) continue
      if (values.includes(code) === (operator === "In")) {
        return `Container ${status.name} for pod ${name} failed with exit code ${code}`
      }
    }
  }
  for (const pattern of onPodConditions ?? []) {
    const condition = pod.status?.conditions?.find(({ type }) => type === pattern.type)
    if (condition !== undefined && condition.status === (pattern.status ?? "True")) {
      return `Pod ${name} has condition ${pattern.type}`
    }
  }
  return undefined
}
