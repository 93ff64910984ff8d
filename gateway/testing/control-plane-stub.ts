// A control plane with a memory store and a resource table, without keys, network or authorization: for tests of the code below the
// filters.

import { createSecretKey } from "node:crypto"
import type { APIService } from "../../client/api-services.ts"
import { silentLog } from "../../client/log.ts"
import { createMemoryStore } from "../../storage/memory/store.ts"
import type { Store } from "../../storage/types.ts"
import { AdmissionChain, type AdmissionPlugin } from "../admission/chain.ts"
import { Aggregator, apiServicePrefix } from "../aggregation/aggregator.ts"
import { FrontProxy } from "../aggregation/front-proxy.ts"
import { Backends } from "../backends/backends.ts"
import { localNetworks, NetworkRules } from "../backends/networks.ts"
import { ServerHandshakes } from "../backends/server-handshakes.ts"
import { ObjectView } from "../registry/generic/storage/object-view.ts"
import { FlowView } from "../registry/flowcontrol/flow-view.ts"
import { createResourceTable, type MutableResourceTable } from "../registry/resource-table.ts"
import { createLocalClient } from "../local-client/local-client.ts"
import { SuperQuota } from "../registry/core/super-quota.ts"
import type { RequestContext } from "../request/context.ts"
import type { RequestInfo } from "../request/request-info.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import { ThreadPlaces } from "../request/thread-places.ts"
import { Turns } from "../request/turns.ts"
import { Presence } from "../tenancy/presence.ts"

export interface ControlPlaneStub extends ControlPlane {
  readonly resources: MutableResourceTable
}

export function createControlPlaneStub(
  options: { store?: Store; plugins?: readonly AdmissionPlugin[] } = {},
): ControlPlaneStub {
  const store = options.store ?? createMemoryStore()
  const absent = (what: string): never => {
    throw new Error(`a stub has no ${what}`)
  }
  const stub: ControlPlaneStub = {
    name: "stub",
    tenant: undefined,
    url: "https://127.0.0.1",
    store,
    presence: new Presence(),
    turns: new Turns(),
    threadPlaces: new ThreadPlaces(),
    memoryBytes: 0,
    openness: async () => ({ anonymousRights: "", issuers: [] }),
    reopened: () => Promise.resolve(undefined),
    begin: () => undefined,
    introduce: () => undefined,
    resources: createResourceTable(),
    admission: new AdmissionChain(options.plugins ?? []),
    authorizer: {
      authorize: async () => ({ decision: "Allow", reason: "" }),
      rulesFor: async () => ({ rules: [], missing: [] }),
      rulesOf: async () => [],
    },
    authenticator: { authenticate: async () => undefined },
    get trust() {
      return absent("trust roots")
    },
    tokens: { issue: async () => absent("tokens") },
    flows: new FlowView({
      store,
      baseObject: () => undefined,
      baseUid: () => "",
      initial: new Map(),
      client: () => stub.client,
      log: silentLog,
    }),
    superQuota: new SuperQuota(() => ({})),
    serviceAddresses: {
      claim: async () => ({ commit: () => undefined, rollback: async () => undefined }),
      release: async () => undefined,
    },
    nodes: { dial: async () => absent("nodes"), limit: () => absent("nodes") },
    podUsage: undefined,
    get backends() {
      return backends
    },
    get aggregator() {
      return aggregator
    },
    get client() {
      return createLocalClient(stub)
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
  const frontProxy = new FrontProxy({ certificate: "", key: createSecretKey(Buffer.of(0)) })
  const backends = new Backends({
    reader: stub.client,
    nodes: stub.nodes,
    networks: new NetworkRules(localNetworks),
    handshakes: new ServerHandshakes(),
  })
  const services = new ObjectView<APIService>({ store, prefix: apiServicePrefix, log: silentLog })
  const aggregator = new Aggregator({
    services,
    store,
    backends,
    frontProxy,
    client: () => stub.client,
    log: silentLog,
  })
  return stub
}

/** The context of a request, and its warnings. */
export function contextOf(
  controlPlane: ControlPlane,
  info: Partial<RequestInfo> = {},
): RequestContext & { warnings: string[] } {
  const warnings: string[] = []
  const none = { group: "", version: "v1", namespace: "", resource: "", subresource: "", name: "", rest: "" }
  return {
    controlPlane,
    info: { isResourceRequest: true, verb: "get", path: "/", ...none, ...info },
    user: { name: "tester", groups: ["system:masters"], extra: {} },
    query: new URLSearchParams(),
    headers: {},
    signal: new AbortController().signal,
    warn: (message) => warnings.push(message),
    markWarnings: () => {
      const count = warnings.length
      return () => void warnings.splice(count)
    },
    warnings,
  }
}
