// Assembles one control plane from its store and its trust roots. The caller owns it: disposing it stops everything it has started
// and closes the store.

import type { ClusterRole, KubeObject } from "../../apimachinery/object.ts"
import { systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import type { PodUsageProvider } from "../../client/pod-usage.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"
import { withFieldManager } from "../../client/writes-as.ts"
import type { SuperQuota } from "../registry/core/super-quota.ts"
import { heldPerUsed } from "../../storage/limits.ts"
import type { Store } from "../../storage/types.ts"
import { AdmissionChain } from "../admission/chain.ts"
import { admissionPlugins } from "../admission/plugins/index.ts"
import type { APIService } from "../../client/api-services.ts"
import { Aggregator, apiServicePrefix } from "../aggregation/aggregator.ts"
import { LocalServices } from "../aggregation/local-services.ts"
import { FrontProxy } from "../aggregation/front-proxy.ts"
import { AdmissionRegistrations } from "../admission/registrations.ts"
import { createCertificateAuthenticator } from "../authentication/client-certificate.ts"
import {
  configurationPrefix,
  configuredIssuers,
  createOIDCAuthenticator,
  type OIDCAuthenticator,
} from "../authentication/oidc/authenticator.ts"
import { createTokenAuthenticator, createTokenIssuer } from "../authentication/service-account-token.ts"
import { tokenUseRecorder } from "../authentication/token-use.ts"
import type { Authenticator, TrustRoots } from "../authentication/types.ts"
import { anonymous, createUnionAuthenticator } from "../authentication/union.ts"
import { Backends } from "../backends/backends.ts"
import type { NetworkRules } from "../backends/networks.ts"
import type { ServerHandshakes } from "../backends/server-handshakes.ts"
import { createNodeAuthorizer } from "../authorization/node.ts"
import { PolicyView } from "../authorization/policy-view.ts"
import { createRBACAuthorizer, grantsTo } from "../authorization/rbac.ts"
import type { PolicyRule } from "../authorization/types.ts"
import { createUnionAuthorizer } from "../authorization/union.ts"
import { conversionCalls } from "../custom-resources/conversion/call.ts"
import { startCustomResources } from "../custom-resources/handler.ts"
import { createLocalClient, deleteUnasked } from "../local-client/local-client.ts"
import { FlowView } from "../registry/flowcontrol/flow-view.ts"
import { initialFlows } from "../registry/flowcontrol/upkeep.ts"
import type { ResourceDefinition, ResourceTable } from "../registry/rest.ts"
import { serverManager } from "../registry/generic/internal-write.ts"
import { groupPrefixOf, storageKey, storagePrefixOf } from "../registry/generic/storage/keys.ts"
import { ObjectView } from "../registry/generic/storage/object-view.ts"
import { metricsDefinitions } from "../resource-metrics/definitions.ts"
import { LimitedUsage } from "../resource-metrics/limited-usage.ts"
import { createResourceTable } from "../registry/resource-table.ts"
import type { ThreadPlaces } from "../request/thread-places.ts"
import type { Turns } from "../request/turns.ts"
import type { Bootstrap } from "./bootstrap.ts"
import type { ControlPlane, ControlPlaneLife } from "./control-plane.ts"
import { EventExpiry } from "./event-expiry.ts"
import type { NodeDialer } from "./node-dialer.ts"
import type { ServiceAddresses } from "./service-addresses.ts"

export interface ControlPlaneParts {
  name: string
  uid: string
  tenant: Tenant | undefined
  /** A function, since a gateway knows its port only after it has opened its own control planes. */
  url: () => string
  store: Store
  life: ControlPlaneLife
  trust: TrustRoots
  bootstrap: Bootstrap
  /** Accepted in every control plane. */
  administrators: Authenticator
  superQuota: SuperQuota
  serviceAddresses: ServiceAddresses
  nodes: NodeDialer
  podUsage: PodUsageProvider | undefined
  /** The destinations that the tenant's webhooks and endpoints may have. */
  networks: NetworkRules
  /** With the servers that they name, of all control planes. */
  handshakes: ServerHandshakes
  turns: Turns
  threadPlaces: ThreadPlaces
  eventTtlMs: number
  /** Default: created from these trust roots. */
  frontProxy?: FrontProxy
  log: Log
  /** The control plane for nonexistent tenants (tenant filter): it spends the same work on tokens as an existing one. */
  nobody?: boolean
}

/** Audiences of tokens for the cluster's API server, in addition to its issuer. */
const commonAudiences = ["https://kubernetes.default.svc", "https://kubernetes.default.svc.cluster.local"]

/** Memory of a control plane besides its store and its caches. Measured: 80 KiB. */
const controlPlaneBytes = 100 * 1024

const policyGroup = "rbac.authorization.k8s.io"

/** As upstream, those the role has in every new control plane. */
function nodeRules(bootstrap: Bootstrap): readonly PolicyRule[] {
  const role = bootstrap.object(storageKey(storagePrefixOf(policyGroup, "clusterroles"), "", "system:node")) as
    | ClusterRole
    | undefined
  return (role?.rules ?? []) as readonly PolicyRule[]
}

export async function openControlPlane(parts: ControlPlaneParts): Promise<ControlPlane> {
  const { name, tenant, store, life, trust, bootstrap, superQuota, serviceAddresses, nodes, log } = parts
  await using stack = new AsyncDisposableStack()
  stack.use(store)
  const self = (): ControlPlane => controlPlane
  const reader: Reader = {
    get: (...request) => controlPlane.client.get(...request),
    list: (...request) => controlPlane.client.list(...request),
  }
  const { policy, flows, registrations, authentication, services } = openViews(parts, self, stack)
  const resources = await serveResources(parts, self, services, stack)
  const backends = stack.use(new Backends({ reader, nodes, networks: parts.networks, handshakes: parts.handshakes }))
  const oidc = oidcAuthenticatorOf(parts, { view: authentication, backends })
  const frontProxy = parts.frontProxy ?? new FrontProxy(trust.frontProxyAuthority)
  const aggregator = stack.use(new Aggregator({ services, store, backends, frontProxy, client: ownClient(self), log }))
  const { presence, events: due } = life
  stack.use(new EventExpiry({ store, presence, due, ttlMs: parts.eventTtlMs, clock: systemClock, log }))
  const ending = stack.move()
  let client: KubeClient | undefined
  const controlPlane: ControlPlane = {
    name,
    tenant,
    get url() {
      return parts.url()
    },
    store,
    presence,
    turns: parts.turns,
    threadPlaces: parts.threadPlaces,
    reopened: (signal) => life.reopened(signal),
    begin: () => life.begin(),
    introduce: () => life.introduce(),
    resources,
    admission: new AdmissionChain(admissionPlugins(registrations)),
    authorizer: createUnionAuthorizer(
      createNodeAuthorizer({ reader, rules: nodeRules(bootstrap) }),
      createRBACAuthorizer(policy, () => parts.turns.pause(presence)),
    ),
    authenticator: authenticatorOf(parts, { reader, self, oidc }),
    trust,
    tokens: createTokenIssuer(trust, reader),
    flows,
    superQuota,
    serviceAddresses,
    nodes,
    podUsage: usageOf(parts),
    backends,
    aggregator,
    async openness() {
      const issuers = await configuredIssuers(authentication)
      return { anonymousRights: grantsTo(await policy.current(), anonymous), issuers }
    },
    get memoryBytes() {
      return heldPerUsed * (controlPlaneBytes + resources.cachedBytes + oidc.keyBytes) + store.memoryBytes
    },
    get client() {
      return (client ??= createLocalClient(controlPlane))
    },
    [Symbol.asyncDispose]: () => ending.disposeAsync(),
  }
  return controlPlane
}

/** The complete control plane. Its parts are opened before it, and may call this only when they are used. */
type Self = () => ControlPlane

/** For what a control plane writes of its own accord; controllers and syncer, which use the same client, have other managers. */
function ownClient(self: Self): () => KubeClient {
  return () => withFieldManager(self().client, serverManager)
}

type Reader = Pick<KubeClient, "get" | "list">

/** The table of served resources, which follows the CustomResourceDefinitions in the store and what the super cluster measures. */
async function serveResources(
  { tenant, store, podUsage, log }: ControlPlaneParts,
  self: Self,
  services: ObjectView<APIService>,
  stack: AsyncDisposableStack,
): Promise<ResourceTable> {
  const resources = createResourceTable()
  stack.defer(() => resources.forgetValues())
  const client = ownClient(self)
  const definitions = (): readonly ResourceDefinition[] => resources.definitions()
  const localServices = stack.use(new LocalServices({ services, client, definitions, log }))
  let custom: readonly ResourceDefinition[] = []
  const isMeasured = (): boolean => tenant !== undefined && podUsage?.isServed === true
  const publish = (): void => resources.setCustom(isMeasured() ? [...metricsDefinitions(), ...custom] : custom)
  if (podUsage !== undefined) {
    publish()
    stack.defer(podUsage.onChange(publish))
  }
  const handler = await startCustomResources({
    store,
    table: {
      setCustom(definitions) {
        custom = definitions
        publish()
        localServices.changed()
      },
    },
    client,
    deleteObject: (definition, namespace, name) => deleteUnasked(self(), definition, namespace, name),
    callConversionWebhook: conversionCalls(() => self().backends),
    log,
  })
  stack.use(handler)
  return resources
}

function usageOf({ tenant, podUsage }: ControlPlaneParts): LimitedUsage | undefined {
  return tenant === undefined || podUsage === undefined ? undefined : new LimitedUsage(podUsage.of(tenant))
}

/** What requests read of the store on their way, kept parsed while the store is open. */
function openViews({ uid, store, bootstrap, log }: ControlPlaneParts, self: Self, stack: AsyncDisposableStack) {
  const baseObject = (key: string): KubeObject | undefined => bootstrap.object(key)
  const baseUid = (key: string): string => bootstrap.uid(uid, key)
  return {
    policy: stack.use(new PolicyView({ store, prefix: groupPrefixOf(policyGroup), baseObject, log })),
    flows: stack.use(
      new FlowView({ store, baseObject, baseUid, initial: initialFlows(), client: ownClient(self), log }),
    ),
    registrations: stack.use(new AdmissionRegistrations({ store, log })),
    authentication: stack.use(new ObjectView<KubeObject>({ store, log, prefix: configurationPrefix })),
    services: stack.use(new ObjectView<APIService>({ store, log, prefix: apiServicePrefix })),
  }
}

const apiAudiencesOf = ({ trust }: ControlPlaneParts): string[] => [trust.issuer, ...commonAudiences]

function authenticatorOf(
  parts: ControlPlaneParts,
  { reader, self, oidc }: { reader: Reader; self: Self; oidc: Authenticator },
): Authenticator {
  const { trust, administrators, nobody = false, log } = parts
  const apiAudiences = apiAudiencesOf(parts)
  const used = tokenUseRecorder(ownClient(self), log)
  return createUnionAuthenticator([
    createCertificateAuthenticator(trust.clientCertificateAuthority.certificate),
    administrators,
    createTokenAuthenticator(trust, reader, { apiAudiences, anyIssuer: nobody, used }),
    oidc,
  ])
}

function oidcAuthenticatorOf(
  parts: ControlPlaneParts,
  { view, backends }: { view: ObjectView<KubeObject>; backends: Backends },
): OIDCAuthenticator {
  const { presence } = parts.life
  return createOIDCAuthenticator({
    view,
    backends,
    apiAudiences: apiAudiencesOf(parts),
    ownIssuer: parts.trust.issuer,
    pause: () => parts.turns.pause(presence),
    aside: (job) => parts.threadPlaces.run(presence, job),
    log: parts.log,
  })
}
