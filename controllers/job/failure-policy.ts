// Applies spec.podFailurePolicy to failed pods. Pure. Source: k8s.io/kubernetes/pkg/controller/job/pod_failure_policy.go.

import type { Job, Pod } from "../../apimachinery/object.ts"

type Rule = NonNullable<NonNullable<Job["spec"]>["podFailurePolicy"]>["rules"][number]

type FailureAction = { action: "Count" | "Ignore" | "FailIndex" } | { action: "FailJob"; message: string }

/** The first matching rule decides; if none matches, the failure counts. */
export function evaluateFailure(job: Job, pod: Pod): FailureAction {
  for (const [index, rule] of (job.spec?.podFailurePolicy?.rules ?? []).entries()) {
    const matched = matchedBy(rule, pod)
    if (matched === undefined) continue
    const { action } = rule
    if (action === "FailJob") return { action, message: `${matched} matching FailJob rule at index ${index}` }
    return { action: action === "Ignore" || action === "FailIndex" ? action : "Count" }
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
      if (containerName !== undefined && containerName !== null && containerName !== status.name) continue
      if (values.includes(code) === (operator === "In")) {
        return `Container ${status.name} for pod ${name} failed with exit code ${code}`
      }
    }
    return undefined
  }
  for (const condition of pod.status?.conditions ?? []) {
    const matches = (onPodConditions ?? []).some(
      ({ type, status = "True" }) => type === condition.type && status === condition.status,
    )
    if (matches) return `Pod ${name} has condition ${condition.type}`
  }
  return undefined
}
