// The context of what the gateway does by itself on a control plane, as one of its administrators.

import type { GroupVersionResource } from "../../apimachinery/object.ts"
import type { ControlPlane } from "../tenancy/control-plane.ts"
import type { RequestContext, User, Verb } from "./context.ts"

const gatewayUser: User = { name: "system:polyplane", groups: ["system:masters", "system:authenticated"], extra: {} }

export function internalContext(
  controlPlane: ControlPlane,
  resource: GroupVersionResource,
  verb: Verb,
  signal: AbortSignal,
): RequestContext {
  return {
    controlPlane,
    info: {
      isResourceRequest: true,
      verb,
      path: "",
      group: resource.group,
      version: resource.version,
      namespace: "",
      resource: resource.resource,
      subresource: "",
      name: "",
      rest: "",
    },
    user: gatewayUser,
    query: new URLSearchParams(),
    headers: {},
    signal,
    warn: () => undefined,
  }
}
