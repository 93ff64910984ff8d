// ServiceAccounts. Tokens are not stored; clients request them through the token subresource. Source:
// k8s.io/kubernetes/pkg/registry/core/serviceaccount.

import type { ServiceAccount } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { token } from "./token.ts"

/** Restricts mounts to the secrets that the account lists. */
const restriction = "kubernetes.io/enforce-mountable-secrets"
const isRestricted = ({ metadata }: ServiceAccount): boolean => metadata.annotations?.[restriction] !== undefined

const strategy: Strategy<ServiceAccount> = {
  generation: false,
  prepareForCreate: (_ctx, account) => keepNames(account),
  prepareForUpdate: (_ctx, account) => keepNames(account),
  warnings: (_ctx, account, current) =>
    isRestricted(account) && (current === undefined || !isRestricted(current))
      ? [
          `metadata.annotations[${restriction}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
        ]
      : [],
}

/** Keeps only the names of secret references. */
function keepNames(account: ServiceAccount): void {
  if (account.secrets === undefined) return
  account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }))
}

export const serviceAccounts: KindExtension = { strategy, subresources: { token } }
