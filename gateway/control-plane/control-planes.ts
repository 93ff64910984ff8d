// Assembles the gateway's control planes: that of the super cluster, those of tenants, and the one that answers for nonexistent
// tenants. It contains what they share (bootstrap objects, administrators, turns); the rest comes from their own stores.

import { timestamp } from "../../apimachinery/object.ts"
import { SilentServers } from "../../client/http/silent-servers.ts"
import { systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import type { Tenant, TenantAddress } from "../../client/tenants.ts"
import { withFieldManager } from "../../client/writes-as.ts"
import { createMemoryStore } from "../../storage/memory/store.ts"
import type { StoreQuota } from "../../storage/quota.ts"
import type { Store, StoreEvent } from "../../storage/types.ts"
import { FrontProxy } from "../aggregation/front-proxy.ts"
import { NetworkRules } from "../backends/networks.ts"
import { ServerHandshakes } from "../backends/server-handshakes.ts"
import { createCertificateAuthenticator } from "../authentication/client-certificate.ts"
import type { ImmediateAuthenticator, TrustRoots } from "../authentication/types.ts"
import type { GatewayLimits, GatewayOptions } from "../options.ts"
import { SuperQuota } from "../registry/core/super-quota.ts"
import type { Taken } from "../registry/core/taken.ts"
import { serverManager } from "../registry/generic/internal-write.ts"
import { ThreadPlaces } from "../request/thread-places.ts"
import { Turns } from "../request/turns.ts"
import { noNodes, noServiceAddresses } from "./absent.ts"
import { reconcileAtStart } from "./at-start.ts"
import { createBootstrap, type Bootstrap } from "./bootstrap.ts"
import { type Admittance, admittanceOf } from "../tenancy/admittance.ts"
import type { ControlPlane, ControlPlaneLife } from "./control-plane.ts"
import { superUid } from "../stores/paths.ts"
import { administratorsName, type GatewayKeys } from "../pki/gateway-keys.ts"
import {
  ensureKubernetesService,
  kubernetesServiceKey,
  kubernetesServiceKeys,
  type AdvertisedAddress,
} from "./kubernetes-service.ts"
import { ensureKept, type KeptObjects, keptObjects } from "./kept-objects.ts"
import { graceShare } from "./event-expiry.ts"
import { openControlPlane, type ControlPlaneParts } from "./open-control-plane.ts"
import { ReachableNodes } from "./reachable-nodes.ts"
import type { Preparation } from "./prepare.ts"
import { Presence } from "../tenancy/presence.ts"
import type { GatewayStorage } from "../stores/storage.ts"
import type { TenantRecord } from "../tenancy/tenant-record.ts"
import { createTenantResolver, type TenantResolver, type TenantResolverParts } from "../tenancy/tenant-resolver.ts"
import { authorityName, createTrust, loadTrust, type NewTrust } from "../pki/trust-store.ts"

interface ControlPlanesParts {
  options: Pick<GatewayOptions, "serviceAddresses" | "serviceRanges" | "nodeDialer" | "podUsage" | "allowedNetworks">
  data: GatewayStorage
  keys: GatewayKeys
  /** Available once the gateway listens. */
  url: () => string
  advertised: () => AdvertisedAddress
  limits: Pick<
    GatewayLimits,
    | "maxStoredObjects"
    | "maxStoredBytes"
    | "storedBytesReserve"
    | "maxServices"
    | "maxNodePorts"
    | "maxNamespaces"
    | "eventTtlMs"
    | "maxLongWorkMs"
  >
  log: Log
}

/** The gateway's name for clients in pods; with a tenant's path it is the URL of the tenant's issuer. */
const inClusterUrl = "https://kubernetes.default.svc"

/** The issuer that kubeadm configures. */
const superIssuer = "https://kubernetes.default.svc.cluster.local"

/** The creation time of the super cluster's store and of its base objects. */
const createdAtKey = "/polyplane/created-at"

/** The trust roots are in the store, but the base layer below the store contains them. */
class LateRoots {
  #known: { client: string; frontProxy: FrontProxy } | undefined

  settle(trust: TrustRoots): FrontProxy {
    const frontProxy = new FrontProxy(trust.frontProxyAuthority)
    this.#known = { client: trust.clientCertificateAuthority.certificate, frontProxy }
    return frontProxy
  }

  readonly authorities = (): { client: string; frontProxy: string } => {
    if (this.#known === undefined) return { client: "", frontProxy: "" }
    return { client: this.#known.client, frontProxy: this.#known.frontProxy.certificateAuthority }
  }
}

export class ControlPlanes implements Preparation {
  /** Members of system:masters in every control plane. */
  readonly #administrators: ImmediateAuthenticator
  readonly #parts: ControlPlanesParts
  readonly #bootstrap: Bootstrap
  readonly #kept: KeptObjects
  /** Of the tenants that this process has made or reconciled. To a tenant, its start is that of the server. */
  readonly #started = new WeakSet<Presence>()
  readonly #networks: NetworkRules
  readonly #handshakes = new ServerHandshakes()
  readonly #turns: Turns
  readonly #threadPlaces = new ThreadPlaces()
  readonly #silentServers = new SilentServers()
  #nobody: ControlPlane | undefined

  constructor(parts: ControlPlanesParts) {
    this.#parts = parts
    this.#networks = new NetworkRules(parts.options.allowedNetworks)
    this.#turns = new Turns(parts)
    const { serviceRanges = [] } = parts.options
    this.#bootstrap = createBootstrap(this.#servingAuthority, serviceRanges)
    this.#kept = keptObjects(serviceRanges)
    this.keys = new Set([...kubernetesServiceKeys, ...this.#kept.keys()])
    this.#administrators = createCertificateAuthenticator(parts.keys.administratorAuthority.certificate, (user) => ({
      ...user,
      groups: ["system:masters"],
    }))
  }

  get #servingAuthority(): string {
    return this.#parts.keys.servingAuthority.certificate
  }

  addressOf(tenant: string): TenantAddress {
    return { server: `${this.#parts.url()}/tenants/${tenant}`, certificateAuthority: this.#servingAuthority }
  }

  issuerOf(tenant: string): string {
    return `${inClusterUrl}/tenants/${tenant}`
  }

  /** Chooses among the control planes that this has opened. */
  resolver(opened: Pick<TenantResolverParts, "tenants" | "superCluster" | "nobody">): TenantResolver {
    return createTenantResolver({ ...opened, administrators: this.#administrators, administratorsName })
  }

  async openTenant(
    { tenant, createdAt, issuer, isStored = false }: TenantRecord,
    life: ControlPlaneLife,
  ): Promise<ControlPlane> {
    const { data } = this.#parts
    if (!isStored) this.#started.add(life.presence)
    const roots = new LateRoots()
    const { authorities } = roots
    const base = this.#bootstrap.layer({ uid: tenant.uid, createdAt, authorities })
    const quota = quotaOf(tenant, this.#parts.limits)
    const store = await data.openStore(tenant.uid, base, { quota, exists: isStored })
    const fresh = isStored ? undefined : { authorityName: authorityName(tenant.uid), issuer }
    return this.#open(store, fresh, roots, {
      name: tenant.name,
      uid: tenant.uid,
      tenant,
      life,
      url: () => this.addressOf(tenant.name).server,
    })
  }

  async openSuper(): Promise<ControlPlane> {
    const { data, url, limits } = this.#parts
    const createdAt = await this.#superCreatedAt()
    const roots = new LateRoots()
    const { authorities } = roots
    const store = await data.openStore(superUid, this.#bootstrap.layer({ uid: superUid, createdAt, authorities }))
    const fresh = { authorityName: "polyplane super cluster", issuer: superIssuer }
    const life = alwaysAwake(limits)
    return this.#open(store, fresh, roots, { name: "", uid: superUid, tenant: undefined, url, life })
  }

  /** Its trust roots are in memory only and sign nothing. */
  async openAnonymous(): Promise<ControlPlane> {
    const uid = "nobody"
    const store = createMemoryStore({ base: this.#bootstrap.layer({ uid, createdAt: timestamp() }) })
    const trust = await createTrust({ authorityName: authorityName(uid), issuer: inClusterUrl })
    this.#nobody = await openControlPlane({
      ...this.#common(undefined),
      name: "",
      uid,
      tenant: undefined,
      url: this.#parts.url,
      store,
      life: alwaysAwake(this.#parts.limits),
      trust,
      serviceAddresses: noServiceAddresses,
      nodes: noNodes,
      nobody: true,
    })
    return this.#nobody
  }

  /** The admittance data for the time it sleeps. Undefined if other gateways may change the tenant meanwhile. */
  async admittance(controlPlane: ControlPlane): Promise<Admittance | undefined> {
    if (this.#nobody === undefined || this.#parts.data.others !== undefined) return undefined
    // The control plane for nonexistent tenants has exactly the rights of a new control plane.
    const { anonymousRights } = await this.#nobody.openness()
    return admittanceOf(controlPlane, anonymousRights)
  }

  /** Of what prepare() keeps. */
  readonly keys: ReadonlySet<string>

  /** Other gateways on the same etcd correct the endpoints as well, each to its own address. They do so when the tenant wakes. */
  readonly isRepeatedAfter = ({ type, current }: StoreEvent): boolean =>
    type === "delete" || this.#parts.data.others === undefined || !kubernetesServiceKeys.has(current.key)

  async isBegun({ store }: ControlPlane): Promise<boolean> {
    return (await store.get(kubernetesServiceKey)) !== undefined
  }

  async prepare(controlPlane: ControlPlane): Promise<void> {
    const { client: itself, presence } = controlPlane
    const client = withFieldManager(itself, serverManager)
    if (!this.#started.has(presence)) await reconcileAtStart(controlPlane)
    this.#started.add(presence)
    await Promise.all([ensureKubernetesService(client, this.#parts.advertised()), ensureKept(controlPlane, this.#kept)])
  }

  async #open(
    store: Store,
    fresh: NewTrust | undefined,
    roots: LateRoots,
    identity: Pick<ControlPlaneParts, "name" | "uid" | "tenant" | "url" | "life">,
  ): Promise<ControlPlane> {
    let trust: TrustRoots
    try {
      trust = await loadTrust(store, fresh)
    } catch (error) {
      await store[Symbol.asyncDispose]()
      throw error
    }
    const frontProxy = roots.settle(trust)
    const superNodes = this.#parts.options.nodeDialer?.(identity.tenant) ?? noNodes
    const silentServers = this.#silentServers
    const nodes = new ReachableNodes({ superNodes, silentServers, networks: this.#networks, trust })
    return openControlPlane({ ...this.#common(identity.tenant), ...identity, store, trust, nodes, frontProxy })
  }

  #common(tenant: Tenant | undefined) {
    const { options, limits, log } = this.#parts
    return {
      superQuota: new SuperQuota(() => (tenant === undefined ? {} : takenLimits(tenant, limits))),
      bootstrap: this.#bootstrap,
      administrators: this.#administrators,
      serviceAddresses: options.serviceAddresses?.(tenant) ?? noServiceAddresses,
      podUsage: options.podUsage,
      networks: this.#networks,
      handshakes: this.#handshakes,
      turns: this.#turns,
      threadPlaces: this.#threadPlaces,
      eventTtlMs: limits.eventTtlMs,
      log,
    }
  }

  async #superCreatedAt(): Promise<string> {
    const { store } = this.#parts.data
    const found = await store.get(createdAtKey)
    if (found !== undefined) return Buffer.from(found.value).toString()
    const now = timestamp()
    await store.txn({ compare: [], operations: [{ type: "put", key: createdAtKey, value: Buffer.from(now) }] })
    return now
  }
}

/** The quota of a tenant, which may change at any time; the super cluster has none. */
function quotaOf(tenant: Tenant, limits: ControlPlanesParts["limits"]): StoreQuota {
  return {
    prefix: "/registry/",
    get maxObjects() {
      return tenant.quota?.objects ?? limits.maxStoredObjects
    },
    get maxBytes() {
      return tenant.quota?.bytes ?? limits.maxStoredBytes
    },
    reserveBytes: limits.storedBytesReserve,
  }
}

/**
 * What a tenant may take of the super cluster. Its pods are limited by the nodes, and its claims by the storage, unless its VirtualCluster
 * has limits.
 */
function takenLimits({ quota = {} }: Tenant, limits: ControlPlanesParts["limits"]): Taken {
  return {
    services: quota.services ?? limits.maxServices,
    "services.nodeports": quota.nodePorts ?? limits.maxNodePorts,
    namespaces: quota.namespaces ?? limits.maxNamespaces,
    ...(quota.pods === undefined ? {} : { pods: quota.pods }),
    ...(quota.persistentVolumeClaims === undefined ? {} : { persistentvolumeclaims: quota.persistentVolumeClaims }),
  }
}

/** The life of a control plane whose store closes only with the gateway. */
function alwaysAwake({ eventTtlMs }: ControlPlanesParts["limits"]): ControlPlaneLife {
  const nothing = (): undefined => undefined
  return {
    presence: new Presence(),
    // Events of an earlier process may live that much longer: looking for expired ones does not hold up the start.
    events: { at: systemClock.now() + eventTtlMs * graceShare },
    reopened: () => Promise.resolve(undefined),
    begin: nothing,
    introduce: nothing,
  }
}
