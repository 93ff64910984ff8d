// The messages of denials, which clients print and tests of other projects compare. Source:
// k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go.

import { goQuote } from "../../apimachinery/go/quote.ts"
import { forbidden, type StatusError } from "../../apimachinery/status.ts"
import { withoutMarkup } from "../../apimachinery/text-errors.ts"
import type { Attributes } from "./types.ts"

export function refusal(attributes: Attributes, reason: string): StatusError {
  const resource = attributes.isResourceRequest
    ? { group: attributes.group, resource: attributes.resource }
    : { group: "", resource: "" }
  const sentence = withoutMarkup(refusalSentence(attributes))
  return forbidden(
    resource,
    attributes.isResourceRequest ? attributes.name : "",
    reason === "" ? sentence : `${sentence}: ${reason}`,
  )
}

function refusalSentence(attributes: Attributes): string {
  const { user, verb, path, group, resource, subresource, namespace } = attributes
  if (!attributes.isResourceRequest) return `User ${goQuote(user.name)} cannot ${verb} path ${goQuote(path)}`
  const printed = subresource === "" ? resource : `${resource}/${subresource}`
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${goQuote(namespace)}`
  return `User ${goQuote(user.name)} cannot ${verb} resource ${goQuote(printed)} in API group ${goQuote(group)} ${where}`
}
