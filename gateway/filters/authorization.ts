// Authorizes the request in this control plane.

import { refusal } from "../authorization/messages.ts"
import type { Attributes, Decision } from "../authorization/types.ts"
import type { Filter } from "./state.ts"

/** Upstream's filters use this message for the requests they reject. */
export const unsniffed = ["X-Content-Type-Options", "nosniff"] as const

export const withAuthorization: Filter = (_request, response, next) => {
  const { info, user, controlPlane, counts } = response.locals.state
  const attributes: Attributes = {
    user,
    verb: info.verb,
    isResourceRequest: info.isResourceRequest,
    path: info.path,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
  }
  const goOn = ({ decision, reason }: Decision): void => {
    counts?.authorized(decision)
    if (decision !== "Allow") {
      response.setHeader(...unsniffed)
      throw refusal(attributes, reason)
    }
    next()
  }
  const answer = controlPlane.authorizer.authorize(attributes)
  return answer instanceof Promise ? answer.then(goOn) : goOn(answer)
}
