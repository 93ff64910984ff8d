// The sentences of refusals, as clients print and tests of others compare them.
// Source: k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go.

import { forbidden, type StatusError } from "../../apimachinery/status.ts"
import type { Attributes } from "./types.ts"

/** As Go's %q prints: JSON's escapes are the same for what names may hold. */
export function quote(text: string): string {
  return JSON.stringify(text)
}

export function refusal(attributes: Attributes, reason: string): StatusError {
  const resource = attributes.isResourceRequest
    ? { group: attributes.group, resource: attributes.resource }
    : { group: "", resource: "" }
  const sentence = refusalSentence(attributes)
  return forbidden(
    resource,
    attributes.isResourceRequest ? attributes.name : "",
    reason === "" ? sentence : `${sentence}: ${reason}`,
  )
}

function refusalSentence(attributes: Attributes): string {
  const { user, verb, path, group, resource, subresource, namespace } = attributes
  if (!attributes.isResourceRequest) return `User ${quote(user.name)} cannot ${verb} path ${quote(path)}`
  const printed = subresource === "" ? resource : `${resource}/${subresource}`
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${quote(namespace)}`
  return `User ${quote(user.name)} cannot ${verb} resource ${quote(printed)} in API group ${quote(group)} ${where}`
}
