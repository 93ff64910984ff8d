// The mutators that convert a tenant's pod to a super pod, in this order. `serviceEnv` reads enableServiceLinks before `superFields`
// disables it.
//
// Not changed: tolerations, security context, host namespaces, other volumes, resources, image pull secrets (copied under their
// names), scheduler name, scheduling gates, hostname and subdomain. Admission in the super cluster decides which of these a tenant
// may use. Pods with references that super cannot resolve are not converted (../unsupported.ts).
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
