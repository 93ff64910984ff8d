// Authorizes the request in this control plane.

import { refusal } from "../authorization/messages.ts"
import type { Attributes, Decision } from "../authorization/types.ts"
import type { Filter } from "./chain.ts"
import type { RequestState } from "./state.ts"

/** Upstream's filters use this message for the requests they reject. */
export const noSniffHeader = ["X-Content-Type-Options", "nosniff"] as const

export function requestAttributes({ info, user }: RequestState): Attributes {
  return {
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
    ...(info.fieldSelector === undefined ? {} : { fieldSelector: info.fieldSelector }),
  }
}

export const withAuthorization: Filter = (_request, response, next) => {
  const { state } = response.locals
  const { controlPlane, counts } = state
  const attributes = requestAttributes(state)
  const goOn = ({ decision, reason }: Decision): void => {
    counts?.authorized(decision)
    if (decision !== "Allow") {
      response.setHeader(...noSniffHeader)
      throw refusal(attributes, reason)
    }
    next()
  }
  const answer = controlPlane.authorizer.authorize(attributes)
  return answer instanceof Promise ? answer.then(goOn) : goOn(answer)
}
