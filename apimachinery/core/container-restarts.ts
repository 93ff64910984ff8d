// Whether a container that has ended may run again: its restart rules determine this, then its own restart policy, then the pod's.
// Source: k8s.io/kubernetes/pkg/api/v1/pod (ContainerShouldRestart).

import type { Container, PodSpec } from "../object.ts"

export function mayRestart(container: Container, spec: Pick<PodSpec, "restartPolicy">, exitCode: number): boolean {
  const { restartPolicy, restartPolicyRules = [] } = container
  const isMatched = restartPolicyRules.some(({ exitCodes: { operator, values = [] } = {} }) =>
    operator === "In" ? values.includes(exitCode) : operator === "NotIn" && !values.includes(exitCode),
  )
  if (restartPolicy !== undefined && isMatched) return true
  const policy = restartPolicy ?? spec.restartPolicy
  return policy === "OnFailure" ? exitCode !== 0 : policy !== "Never"
}
