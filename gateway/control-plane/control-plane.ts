// One control plane: everything that a request can access. Each tenant has one, and so does the simulated super cluster. It is
// built lazily and disposed as a whole, so nothing of a tenant outlives it, and it has no reference to any other.
//
// Requests refer to it, and registries, strategies and admission refer to requests: this file must not import kinds, which would
// create an import cycle through all of them.

import type { KubeClient } from "../../client/rest.ts"
import type { PodUsageSource } from "../../client/pod-usage.ts"
import type { Tenant } from "../../client/tenants.ts"
import type { SuperQuota } from "../registry/core/super-quota.ts"
import type { Store } from "../../storage/types.ts"
import type { AdmissionChain } from "../admission/chain.ts"
import type { Authenticator, TokenIssuer, TrustRoots } from "../authentication/types.ts"
import type { Aggregator } from "../aggregation/aggregator.ts"
import type { Authorizer } from "../authorization/types.ts"
import type { Backends } from "../backends/backends.ts"
import type { FlowView } from "../registry/flowcontrol/flow-view.ts"
import type { ResourceTable } from "../registry/rest.ts"
import type { Due } from "./event-expiry.ts"
import type { ServiceAddresses } from "./service-addresses.ts"
import type { ThreadPlaces } from "../request/thread-places.ts"
import type { Turns } from "../request/turns.ts"
import type { Presence } from "../tenancy/presence.ts"
import type { NodeDialer } from "./node-dialer.ts"

interface Openness {
  /** The rights of callers without credentials as text; equal rights give equal texts. */
  anonymousRights: string
  /** Issuers whose tokens are accepted in addition to its own. */
  issuers: readonly string[]
}

/** What a control plane has of its tenant, which outlives it: each time the tenant wakes, it has another control plane. */
export interface ControlPlaneLife {
  readonly presence: Presence
  /** When its Events must be looked at. */
  readonly events: Due
  /**
   * Call after the store was closed because the tenant fell asleep: resolves with the tenant's next control plane when it wakes, or
   * with undefined if the signal is aborted.
   */
  reopened(signal: AbortSignal): Promise<ControlPlane | undefined>
  /**
   * Must be called before any use beyond reading bootstrap objects. It creates what depends on the super cluster. Undefined: that
   * exists already.
   */
  begin(): Promise<void> | undefined
  /**
   * Wakes those who follow all tenants, who may be content with its state. Call when something happens that is not written to its
   * store.
   */
  introduce(): void
}

export interface ControlPlane extends Omit<ControlPlaneLife, "events">, AsyncDisposable {
  /** Those of the process: all its control planes share its thread. */
  readonly turns: Turns
  /** Those of the process, too. */
  readonly threadPlaces: ThreadPlaces
  /** The tenant's name; "" for the super cluster. */
  readonly name: string
  /** Undefined for the super cluster. */
  readonly tenant: Tenant | undefined
  /** The https URL for clients, including the tenant's path, without a trailing slash. */
  readonly url: string
  readonly store: Store
  /** The registries of the served resources: built-in ones and those of CustomResourceDefinitions. */
  readonly resources: ResourceTable
  readonly admission: AdmissionChain
  readonly authorizer: Authorizer
  readonly authenticator: Authenticator
  readonly trust: TrustRoots
  readonly tokens: TokenIssuer
  /** Classifies requests into flow schemas. */
  readonly flows: FlowView
  /** Limits what the tenant takes of the super cluster. */
  readonly superQuota: SuperQuota
  readonly serviceAddresses: ServiceAddresses
  readonly nodes: NodeDialer
  /** Undefined: it serves no metrics of its own. */
  readonly podUsage: PodUsageSource | undefined
  /** Connections to its pods and Services and to URLs in its objects. */
  readonly backends: Backends
  /** Group versions that are served by the tenant's own servers. */
  readonly aggregator: Aggregator
  /** Determines which callers it accepts beyond its trust roots. */
  openness(): Promise<Openness>
  /** The estimated memory of the open control plane, without that of components that follow all tenants. */
  readonly memoryBytes: number
  /** An in-process client with the rights of system:masters. */
  readonly client: KubeClient
}
