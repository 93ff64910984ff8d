// One control plane: everything a request may touch. A tenant has one; the simulated super cluster is one too. It is built
// lazily and disposed as a whole, so that nothing of a tenant outlives it, and holds no reference to any other.
//
// Requests name it, and registries, strategies and admission name requests: what is imported here knows no kinds, or all of them
// would import one another.

import type { KubeClient } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"
import type { Store } from "../../storage/types.ts"
import type { AdmissionChain } from "../admission/chain.ts"
import type { Authenticator, TokenIssuer, TrustRoots } from "../authentication/types.ts"
import type { Aggregator } from "../aggregation/aggregator.ts"
import type { Authorizer } from "../authorization/types.ts"
import type { Backends } from "../backends/backends.ts"
import type { FlowView } from "../registry/flowcontrol/flow-view.ts"
import type { ResourceTable } from "../registry/rest.ts"
import type { ServiceAddresses } from "./service-addresses.ts"
import type { Presence } from "./presence.ts"
import type { NodeDialer } from "./node-dialer.ts"

export interface Openness {
  /** All that is granted to callers without credentials, as a text: the same for the same grants. */
  anonymousRights: string
  /** Those whose tokens are accepted beside its own. */
  issuers: readonly string[]
}

export interface ControlPlane extends AsyncDisposable {
  readonly presence: Presence
  /** When its store was closed because nobody needed it: the same tenant's next one, when it wakes. Undefined: the signal ended. */
  reopened(signal: AbortSignal): Promise<ControlPlane | undefined>
  /**
   * Called for whatever goes beyond reading what a control plane is born with, before it is done: what needs the super
   * cluster is made then. Undefined: it is there.
   */
  begin(): Promise<void> | undefined
  /** The tenant's name; "" for the super cluster. */
  readonly name: string
  readonly uid: string
  /** Undefined for the super cluster. */
  readonly tenant: Tenant | undefined
  /** https URL without a trailing slash that clients use, the tenant's path included. */
  readonly url: string
  readonly store: Store
  /** What is served: built-in resources and those of the CustomResourceDefinitions. Answers the registry of each. */
  readonly resources: ResourceTable
  readonly admission: AdmissionChain
  readonly authorizer: Authorizer
  readonly authenticator: Authenticator
  readonly trust: TrustRoots
  readonly tokens: TokenIssuer
  /** What its requests are classified by. */
  readonly flows: FlowView
  readonly serviceAddresses: ServiceAddresses
  readonly nodes: NodeDialer
  /** Connections to its pods, Services and the URLs it names. */
  readonly backends: Backends
  /** Group versions that programs of the tenant serve. */
  readonly aggregator: Aggregator
  /** What decides about callers beyond its trust roots. */
  openness(): Promise<Openness>
  /** What the process holds for it while it is open, estimated; without what those have of it who follow all tenants. */
  readonly memoryBytes: number
  /** In process, as a member of system:masters. */
  readonly client: KubeClient
}
