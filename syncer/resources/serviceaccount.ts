// ServiceAccounts: needed in super so that its admission finds the one a pod names. They carry no rights there, and no
// tokens: pods get the tenant's (pod/mutators/service-account-token.ts).

import type { ServiceAccount } from "../../apimachinery/object.ts"
import { serviceAccounts } from "../../client/resources.ts"
import { equalButNulls } from "../../apimachinery/equality.ts"
import type { ResourceSync } from "./resource-sync.ts"

export const serviceAccount: ResourceSync<ServiceAccount> = {
  resource: serviceAccounts,
  kind: "ServiceAccount",
  // Super makes "default" in every namespace by itself.
  adopts: (superObject) => superObject.metadata.name === "default",
  toSuper: (object) => ({
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: {},
    automountServiceAccountToken: false,
    ...(object.imagePullSecrets === undefined ? {} : { imagePullSecrets: object.imagePullSecrets }),
  }),
  changed(object, superObject) {
    const patch: Record<string, unknown> = {}
    if (superObject.automountServiceAccountToken !== false) patch["automountServiceAccountToken"] = false
    const wanted = object.imagePullSecrets ?? []
    if (!equalButNulls(wanted, superObject.imagePullSecrets ?? [])) patch["imagePullSecrets"] = wanted
    return Object.keys(patch).length === 0 ? [] : [{ patch }]
  },
}
