import { expect, test } from "vitest"
import type { Definition } from "../types.ts"
import { approvalCondition, validateApproval } from "./approval.ts"

function definition(said?: string, group = "example.k8s.io"): Definition {
  const annotations: Record<string, string> = said === undefined ? {} : { "api-approved.kubernetes.io": said }
  const [apiVersion, kind] = ["apiextensions.k8s.io/v1", "CustomResourceDefinition"]
  return { apiVersion, kind, metadata: { name: `widgets.${group}`, annotations }, spec: { group } }
}

const [missing, invalid] = ["Required value: protected groups must", "Invalid value: "]

// A kube-apiserver's response, and the condition that it adds.
test.each([
  [undefined, missing, "False MissingAnnotation"],
  ["", missing, "False MissingAnnotation"],
  ["yes", invalid, "False InvalidAnnotation"],
  ["http:x", invalid, "False InvalidAnnotation"],
  ["/a/b", invalid, "False InvalidAnnotation"],
  ["https:///x", invalid, "False InvalidAnnotation"],
  ["https://exa mple.com/x", invalid, "False InvalidAnnotation"],
  ["https://x", undefined, "True ApprovedAnnotation"],
  ["unapproved, an experiment", undefined, "False UnapprovedAnnotation"],
])("approval %j of a Kubernetes group", (said, refused, condition) => {
  const [error] = validateApproval(definition(said))
  if (refused === undefined) expect(error).toBeUndefined()
  else expect(error?.body()).toContain(refused)
  const { type, status, reason } = approvalCondition(definition(said)) ?? {}
  expect([type, `${status} ${reason}`]).toEqual(["KubernetesAPIApprovalPolicyConformant", condition])
})

test("other groups need no approval", () => {
  expect(validateApproval(definition(undefined, "example.com"))).toEqual([])
  expect(approvalCondition(definition(undefined, "example.com"))).toBeUndefined()
})

test("an invalid approval is tolerated in an update if it was invalid before, but it must not be removed", () => {
  expect(validateApproval(definition("no"), definition("yes"))).toEqual([])
  expect(validateApproval(definition(), definition("yes"))).toHaveLength(1)
})
