// ServiceAccounts: super's admission requires the account that a pod names. They have no permissions and no tokens there: pods get
// the tenant's tokens (pod/mutators/service-account-token.ts).

import type { ServiceAccount } from "../../apimachinery/object.ts"
import { serviceAccounts } from "../../client/resources.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import type { ResourceSync } from "./resource-sync.ts"

export const serviceAccount: ResourceSync<ServiceAccount> = {
  resource: serviceAccounts,
  kind: "ServiceAccount",
  // Super creates "default" in every namespace itself.
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
    if (!equalIgnoringNulls(wanted, superObject.imagePullSecrets ?? [])) patch["imagePullSecrets"] = wanted
    return Object.keys(patch).length === 0 ? [] : [{ patch }]
  },
}
