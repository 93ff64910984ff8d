// May this user do this in this control plane?

import { refusal } from "../authorization/messages.ts"
import type { Attributes } from "../authorization/types.ts"
import type { Filter } from "./state.ts"

export const withAuthorization: Filter = async (_request, response, next) => {
  const { info, user, controlPlane } = response.locals.state
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
  const { decision, reason } = await controlPlane.authorizer.authorize(attributes)
  if (decision !== "Allow") throw refusal(attributes, reason)
  next()
}
