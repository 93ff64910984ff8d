// Assembles one control plane from its store and its trust roots. The caller owns it: disposing it stops everything it has started
// and closes the store.

import type { ClusterRole, KubeObject } from "../../apimachinery/object.ts"
import type { Log } from "../../client/log.ts"
import type { PodUsageSource } from "../../client/pod-usage.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"
import type { SuperQuota } from "../registry/core/super-quota.ts"
import { heldPerUsed } from "../../storage/limits.ts"
import type { Store } from "../../storage/types.ts"
import { AdmissionChain } from "../admission/chain.ts"
import { admissionPlugins } from "../admission/plugins/index.ts"
import { Aggregator } from "../aggregation/aggregator.ts"
import { LocalServices } from "../aggregation/local-services.ts"
import { FrontProxy } from "../aggregation/front-proxy.ts"
import { AdmissionRegistrations } from "../admission/registrations.ts"
import { createCertificateAuthenticator } from "../authentication/client-certificate.ts"
import {
  configurationPrefix,
  configuredIssuers,
  createOIDCAuthenticator,
} from "../authentication/oidc/authenticator.ts"
import { createTokenAuthenticator, createTokenIssuer } from "../authentication/service-account-token.ts"
import { tokenUseRecorder } from "../authentication/token-use.ts"
import type { Authenticator, TrustRoots } from "../authentication/types.ts"
import { anonymous, createUnionAuthenticator } from "../authentication/union.ts"
import { Backends } from "../backends/backends.ts"
import type { NetworkRules } from "../backends/networks.ts"
import { createNodeAuthorizer } from "../authorization/node.ts"
import { PolicyView } from "../authorization/policy-view.ts"
import { createRBACAuthorizer, grantsTo } from "../authorization/rbac.ts"
import type { PolicyRule } from "../authorization/types.ts"
import { createUnionAuthorizer } from "../authorization/union.ts"
import { conversionCalls } from "../custom-resources/conversion/call.ts"
import { startCustomResources } from "../custom-resources/handler.ts"
import { createLocalClient, deleteUnasked } from "../local-client/local-client.ts"
import { FlowView } from "../registry/flowcontrol/flow-view.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import { groupPrefixOf, storageKey, storagePrefixOf } from "../registry/generic/storage/keys.ts"
import { ObjectView } from "../registry/generic/storage/object-view.ts"
import { metricsDefinitions } from "../resource-metrics/definitions.ts"
import { LimitedUsage } from "../resource-metrics/limited-usage.ts"
import { createResourceTable } from "../registry/resource-table.ts"
import type { Turns } from "../request/turns.ts"
import type { Bootstrap } from "./bootstrap.ts"
import type { ControlPlane } from "./control-plane.ts"
import type { NodeDialer } from "./node-dialer.ts"
import type { ControlPlaneLife } from "../tenancy/tenant-entry.ts"
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
  podUsage: PodUsageSource | undefined
  /** The destinations that the tenant's webhooks and endpoints may have. */
  networks: NetworkRules
  turns: Turns
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
  const { name, uid, tenant, store, life, trust, bootstrap, superQuota, serviceAddresses, nodes, log } = parts
  await using stack = new AsyncDisposableStack()
  stack.use(store)
  const resources = createResourceTable()
  stack.defer(() => resources.forgetValues())
  const callConversionWebhook = conversionCalls(() => controlPlane.backends)
  const ownClient = () => controlPlane.client
  const localServices = new LocalServices({ client: ownClient, definitions: () => resources.definitions(), log })
  stack.use(localServices)
  const podUsage = parts.podUsage === undefined ? undefined : new LimitedUsage(parts.podUsage)
  const metrics = podUsage === undefined ? [] : metricsDefinitions()
  resources.setCustom(metrics)
  const table = {
    setCustom(definitions: readonly ResourceDefinition[]) {
      resources.setCustom([...metrics, ...definitions])
      localServices.changed()
    },
  }
  const deleteObject = (definition: ResourceDefinition, namespace: string, name: string): Promise<void> =>
    deleteUnasked(controlPlane, definition, namespace, name)
  const custom = { store, table, client: ownClient, deleteObject, callConversionWebhook, log }
  stack.use(await startCustomResources(custom))
  const policy = stack.use(
    new PolicyView({ store, prefix: groupPrefixOf(policyGroup), baseObject: (key) => bootstrap.object(key), log }),
  )
  const flows = stack.use(
    new FlowView({
      store,
      baseObject: (key) => bootstrap.object(key),
      baseUid: (key) => bootstrap.uid(uid, key),
      client: ownClient,
      log,
    }),
  )
  let client: KubeClient | undefined
  const reader: Pick<KubeClient, "get" | "list"> = {
    get: (...request) => controlPlane.client.get(...request),
    list: (...request) => controlPlane.client.list(...request),
  }
  const backends = stack.use(new Backends({ reader, nodes, networks: parts.networks }))
  const frontProxy = parts.frontProxy ?? new FrontProxy(trust.frontProxyAuthority)
  const aggregated = { store, backends, frontProxy, client: () => controlPlane.client, log }
  const aggregator = stack.use(new Aggregator(aggregated))
  const registrations = stack.use(new AdmissionRegistrations({ store, log }))
  const admission = new AdmissionChain(admissionPlugins(registrations))
  const authenticationView = stack.use(new ObjectView<KubeObject>({ store, log, prefix: configurationPrefix }))
  const ending = stack.move()
  const controlPlane: ControlPlane = {
    name,
    uid,
    tenant,
    get url() {
      return parts.url()
    },
    store,
    presence: life.presence,
    turns: parts.turns,
    reopened: (signal) => life.reopened(signal),
    begin: () => life.begin(),
    resources,
    admission,
    authorizer: createUnionAuthorizer(
      createNodeAuthorizer({ reader, rules: nodeRules(bootstrap) }),
      createRBACAuthorizer(policy),
    ),
    authenticator: authenticatorOf(parts, { reader, client: ownClient, view: authenticationView, backends }),
    trust,
    tokens: createTokenIssuer(trust, reader),
    flows,
    superQuota,
    serviceAddresses,
    nodes,
    podUsage,
    backends,
    aggregator,
    async openness() {
      const issuers = await configuredIssuers(authenticationView)
      return { anonymousRights: grantsTo(await policy.current(), anonymous), issuers }
    },
    get memoryBytes() {
      return heldPerUsed * (controlPlaneBytes + resources.cachedBytes) + store.memoryBytes
    },
    get client() {
      return (client ??= createLocalClient(controlPlane))
    },
    [Symbol.asyncDispose]: () => ending.disposeAsync(),
  }
  return controlPlane
}

interface AuthenticatorParts {
  reader: Pick<KubeClient, "get" | "list">
  client: () => KubeClient
  view: ObjectView<KubeObject>
  backends: Backends
}

function authenticatorOf(
  { trust, administrators, nobody = false, log }: ControlPlaneParts,
  { reader, client, view, backends }: AuthenticatorParts,
): Authenticator {
  const apiAudiences = [trust.issuer, ...commonAudiences]
  return createUnionAuthenticator([
    createCertificateAuthenticator(trust.clientCertificateAuthority.certificate),
    administrators,
    createTokenAuthenticator(trust, reader, { apiAudiences, anyIssuer: nobody, used: tokenUseRecorder(client, log) }),
    createOIDCAuthenticator({ view, backends, apiAudiences, log }),
  ])
}
