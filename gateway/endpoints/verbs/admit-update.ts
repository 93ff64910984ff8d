// Admission of a PUT or PATCH, which creates an object if there is none: permission to update or patch does not include permission to
// create. Source: withAuthorization in k8s.io/apiserver/pkg/endpoints/handlers/update.go.

import { admitFor } from "../../admission/admit.ts"
import { refusal } from "../../authorization/messages.ts"
import type { AdmitFunctions, ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"

export function admitUpdate(ctx: RequestContext, definition: ResourceDefinition, dryRun: boolean): AdmitFunctions {
  const { subresource, namespace, name } = ctx.info
  const admit = admitFor(ctx, definition, { operation: "UPDATE", subresource, namespace, name, dryRun })
  return {
    mutate: (object, current) => admit.mutate(object, current),
    // As upstream, an object that is invalid is refused as such first.
    validate: (object, current) =>
      current === undefined
        ? authorizeCreate(ctx).then(() => admit.validate(object, current))
        : admit.validate(object, current),
  }
}

async function authorizeCreate({ user, info, controlPlane }: RequestContext): Promise<void> {
  const { path, group, version, resource, subresource, namespace, name } = info
  const place = { group, version, resource, subresource, namespace, name }
  const attributes = { user, verb: "create" as const, isResourceRequest: true, path, ...place }
  const { decision, reason } = await controlPlane.authorizer.authorize(attributes)
  if (decision !== "Allow") throw refusal(attributes, reason)
}
