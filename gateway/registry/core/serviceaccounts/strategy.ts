// ServiceAccounts. Tokens are never stored with them: they are asked for through the token subresource.

import type { ServiceAccount } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { token } from "./token.ts"

const strategy: Strategy<ServiceAccount> = {
  generation: false,
  prepareForCreate: (_ctx, account) => keepNames(account),
  prepareForUpdate: (_ctx, account) => keepNames(account),
}

/** Secrets are named; a reference says nothing more of them. */
function keepNames(account: ServiceAccount): void {
  if (account.secrets === undefined) return
  account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }))
}

export const serviceAccounts: KindExtension = { strategy, subresources: { token } }
