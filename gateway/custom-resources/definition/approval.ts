// Protected groups of Kubernetes: definitions in them must refer to their approval, or state that there is none. Source:
// k8s.io/apiextensions-apiserver/pkg/apihelpers/helpers.go and pkg/controller/apiapproval.

import { requestUrlFault } from "../../../apimachinery/cel/functions/urls.ts"
import { goQuote } from "../../../apimachinery/go/quote.ts"
import { FieldPath, type FieldError, invalidValue, required } from "../../../apimachinery/field-errors.ts"
import type { Definition, DefinitionCondition } from "../types.ts"

const approval = "api-approved.kubernetes.io"
const at = FieldPath.root("metadata", "annotations").key(approval)
const proposal = "see https://github.com/kubernetes/enhancements/pull/1111"
const wanted = `protected groups must have approval annotation "${approval}"`

type Approval = Pick<DefinitionCondition, "status" | "reason" | "message">

const saidOf = ({ metadata }: Definition): string => metadata.annotations?.[approval] ?? ""

/** Undefined if the group needs no approval. In the form of the definition's condition. */
function approvalOf(definition: Definition): Approval | undefined {
  if (!isProtected(definition.spec?.group ?? "")) return undefined
  const said = saidOf(definition)
  if (said === "") return { status: "False", reason: "MissingAnnotation", message: `${wanted}, ${proposal}` }
  if (said.startsWith("unapproved"))
    return { status: "False", reason: "UnapprovedAnnotation", message: `not approved: ${goQuote(said)}` }
  if (namesHost(said)) return { status: "True", reason: "ApprovedAnnotation", message: `approved in ${said}` }
  const message = `${wanted} with either a URL or a reason starting with "unapproved", ${proposal}`
  return { status: "False", reason: "InvalidAnnotation", message }
}

/** `current`: unchanged errors are accepted. */
export function validateApproval(definition: Definition, current?: Definition): FieldError[] {
  const given = approvalOf(definition)
  if (given === undefined || (current !== undefined && approvalOf(current)?.reason === given.reason)) return []
  if (given.reason === "MissingAnnotation") return [required(at, given.message ?? "")]
  if (given.reason !== "InvalidAnnotation") return []
  return [invalidValue(at, saidOf(definition), given.message ?? "")]
}

/** `current`: the definition before the write. The condition is only set anew if the annotation has changed. */
export function approvalCondition(definition: Definition, current?: Definition): DefinitionCondition | undefined {
  if (current !== undefined && saidOf(current) === saidOf(definition)) return undefined
  const given = approvalOf(definition)
  return given && { type: "KubernetesAPIApprovalPolicyConformant", ...given }
}

function isProtected(group: string): boolean {
  return ["k8s.io", "kubernetes.io"].some((domain) => group === domain || group.endsWith(`.${domain}`))
}

function namesHost(url: string): boolean {
  return requestUrlFault(url) === undefined && /^[a-z][\w+.-]*:\/\/(?:[^/?]*@)?[^/?@]/i.test(url)
}
