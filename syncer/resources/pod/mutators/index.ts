// What is done to a tenant's pod on its way to the super cluster, in this order. `serviceEnv` reads enableServiceLinks
// before `superFields` switches it off.
//
// Left as they are: tolerations, security context, host namespaces, other volumes, resources, image pull secrets
// (synced under their names), scheduler name, scheduling gates, hostname and subdomain. What of these a tenant may use is for
// admission in the super cluster to say. A pod that refers to what super cannot have does not come here (../unsupported.ts).

import type { PodMutator } from "../context.ts"
import { affinity } from "./affinity.ts"
import { dns } from "./dns.ts"
import { downwardAPI } from "./downward-api.ts"
import { ephemeralVolumes } from "./ephemeral-volumes.ts"
import { hostAliases } from "./host-aliases.ts"
import { placement } from "./placement.ts"
import { rootCA } from "./root-ca.ts"
import { serviceAccountToken } from "./service-account-token.ts"
import { serviceEnv } from "./service-env.ts"
import { superFields } from "./super-fields.ts"

export const podMutators: readonly PodMutator[] = [
  serviceEnv,
  downwardAPI,
  rootCA,
  serviceAccountToken,
  ephemeralVolumes,
  affinity,
  placement,
  dns,
  hostAliases,
  superFields,
]
