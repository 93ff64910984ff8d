// ServiceAccounts: super's admission requires the account that a pod names. They have no permissions and no tokens there: pods get
// the tenant's tokens (pod/mutators/service-account-token.ts). Components of super may give every account image pull secrets of their
// own, as OpenShift does; these stay.

import type { ServiceAccount } from "../../apimachinery/object.ts"
import { pullSecretsAnnotation } from "../../apimachinery/tenancy.ts"
import { serviceAccounts } from "../../client/resources.ts"
import type { ResourceSync } from "./resource-sync.ts"

type Reference = NonNullable<ServiceAccount["imagePullSecrets"]>[number]

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
  annotations: ({ imagePullSecrets = [] }) => ({ [pullSecretsAnnotation]: namesOf(imagePullSecrets).join(",") }),
  changed(object, superObject) {
    const patch: Record<string, unknown> = {}
    if (superObject.automountServiceAccountToken !== false) patch["automountServiceAccountToken"] = false
    const secrets = pullSecretsChange(object, superObject)
    if (secrets !== undefined) patch["imagePullSecrets"] = secrets
    return Object.keys(patch).length === 0 ? [] : [{ patch }]
  },
}

const namesOf = (references: readonly Reference[]): string[] => references.map(({ name = "" }) => name)

/** Names cannot contain commas. */
function pullSecretsChange(object: ServiceAccount, { metadata, imagePullSecrets: present = [] }: ServiceAccount) {
  const wanted = new Set(namesOf(object.imagePullSecrets ?? []))
  const copied = new Set(metadata.annotations?.[pullSecretsAnnotation]?.split(","))
  const kept = present.filter(({ name = "" }) => wanted.has(name) || !copied.has(name))
  const there = new Set(namesOf(kept))
  const missing = [...wanted].filter((name) => !there.has(name)).map((name): Reference => ({ name }))
  return kept.length === present.length && missing.length === 0 ? undefined : [...kept, ...missing]
}
