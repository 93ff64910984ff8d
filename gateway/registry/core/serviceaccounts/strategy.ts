// ServiceAccounts. Tokens are never stored with them: they are asked for through the token subresource.

import type { ServiceAccount } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { token } from "./token.ts"

const strategy: Strategy<ServiceAccount> = { generation: false }

export const serviceAccounts: KindExtension = { strategy, subresources: { token } }
