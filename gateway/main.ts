// A gateway from its options to its shutdown. It owns everything it starts and stops it in reverse order.

import type { KeyObject } from "node:crypto"
import { pino } from "pino"
import type { RequestState } from "./filters/state.ts"
import { Arrivals } from "./request/arrivals.ts"
import { runUntilDisposed } from "../client/background.ts"
import { systemClock } from "../client/clock.ts"
import type { TenantAdmin } from "../client/tenants.ts"
import { advertisedBy, defaultHost, servingNames, urlOf } from "./addresses.ts"
import { endStreamsOfDeleted } from "./connections/of-deleted-tenants.ts"
import { close, listen } from "./connections/listener.ts"
import { Metrics } from "./metrics/metrics.ts"
import { defaultLimits, type GatewayOptions } from "./options.ts"
import { keepCertificates } from "./pki/renewal.ts"
import { createGatewayServer, createHandlers } from "./server.ts"
import type { ControlPlane } from "./control-plane/control-plane.ts"
import { ControlPlanes } from "./control-plane/control-planes.ts"
import { loadCertificates, loadGatewayKeys, type GatewayKeys } from "./pki/gateway-keys.ts"
import { renderKubeconfig } from "./pki/kubeconfig.ts"
import type { AdvertisedAddress } from "./control-plane/kubernetes-service.ts"
import { openGatewayStorage } from "./stores/open-storage.ts"
import { prepareUntilDone } from "./control-plane/prepare.ts"
import { openTenants } from "./tenancy/open-tenants.ts"
import type { TenantDirectory } from "./tenancy/tenant-directory.ts"

export interface GatewayParts<Tenants extends TenantAdmin> {
  url: string
  metrics: Metrics
  keys: GatewayKeys
  tenants: Tenants
  superCluster: ControlPlane | undefined
  superClusterLost?: AbortSignal | undefined
}

/** A gateway in one process, as below, or in several (workers/primary.ts). */
export class RunningGateway<Tenants extends TenantAdmin = TenantAdmin> implements AsyncDisposable {
  readonly url: string
  readonly tenants: Tenants
  readonly superCluster: ControlPlane | undefined
  /** Aborted when another process may take over the super cluster: this process must then stop. Undefined if that is impossible. */
  readonly superClusterLost: AbortSignal | undefined
  readonly #keys: GatewayKeys
  readonly #metrics: Metrics
  readonly #stack: AsyncDisposableStack

  /** Disposes the stack, which has what was started for it. */
  constructor(parts: GatewayParts<Tenants>, stack: AsyncDisposableStack) {
    this.url = parts.url
    this.tenants = parts.tenants
    this.superCluster = parts.superCluster
    this.superClusterLost = parts.superClusterLost
    this.#keys = parts.keys
    this.#metrics = parts.metrics
    this.#stack = stack
  }

  /** PEM of the certificate authority that clients trust. */
  get certificateAuthority(): string {
    return this.#keys.servingAuthority.certificate
  }

  /** Signs the identities with which tenants reach nodes; vn-agents have the public key. */
  get tenantTokenSigner(): KeyObject {
    return this.#keys.tenantTokenSigner
  }

  /** Certificate and key (PEM) of the gateway's administrator, for processes of Polyplane. */
  get administrator(): { certificate: string; key: string } {
    return this.#keys.administrator
  }

  /** Those of the process and all tenants together, in the format of Prometheus. */
  printMetrics(): Promise<string> {
    return this.#metrics.print()
  }

  /** The operator's kubeconfig, for the super cluster if it is served, and for the admin surface. */
  adminKubeconfig(): Promise<string> {
    const { administrator: client, servingAuthority } = this.#keys
    const certificateAuthority = servingAuthority.certificate
    const config = { name: "polyplane", user: "admin", server: this.url, certificateAuthority, client }
    return Promise.resolve(renderKubeconfig(config))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}

export class Gateway extends RunningGateway<TenantDirectory> {
  /** Throws StartError if the user can correct the cause. */
  static async start(options: GatewayOptions): Promise<Gateway> {
    await using stack = new AsyncDisposableStack()
    const parts = await start(options, stack)
    return new Gateway(parts, stack.move())
  }
}

/** The stack stops its entries in reverse order: first the port, then the tenants, then their dependencies. */
async function start(options: GatewayOptions, stack: AsyncDisposableStack): Promise<GatewayParts<TenantDirectory>> {
  const log = options.log ?? pino({ name: "gateway" }, pino.destination(2))
  const limits = { ...defaultLimits, ...options.limits }
  const host = options.host ?? defaultHost
  const data = stack.use(await openGatewayStorage({ ...options, log }))
  const { clock = systemClock } = options
  const names = servingNames(options)
  const keys = await loadGatewayKeys(data.keys, names, clock)
  const metrics = stack.use(new Metrics(limits, options.clientMetrics))
  let port = options.port ?? 0
  const url = (): string => urlOf(options, port)
  const advertisedAt = advertisedBy(options)
  const advertised = (): AdvertisedAddress => advertisedAt(port)

  const controlPlanes = new ControlPlanes({ options, data, keys, url, advertised, limits, log })
  const superClusterLost = options.superCluster === true ? await data.holdSuperCluster?.() : undefined
  const superCluster = options.superCluster === true ? stack.use(await controlPlanes.openSuper()) : undefined
  const nobody = stack.use(await controlPlanes.openAnonymous())
  const tenants = stack.use(await openTenants({ data, controlPlanes, metrics, limits, log }))

  const active = new Arrivals<RequestState>()
  const serverParts = {
    serving: keys.serving,
    domain: options.domain,
    http2: options.http2 ?? true,
    resolver: controlPlanes.resolver({ tenants: tenants.lookup, superCluster, nobody }),
    admin: { tenants, limits },
    metrics,
    limits,
    log,
    audit: options.audit,
  }
  const server = createGatewayServer(serverParts, createHandlers(serverParts, active), active)
  stack.defer(endStreamsOfDeleted(tenants, active))
  const load = () => loadCertificates(data.keys, names, keys, clock, keys)
  keepCertificates(keys, load, server, stack, { log, clock })
  port = await listen(server, host, port)
  stack.defer(() => close(server, active, limits.shutdownMs))
  if (superCluster !== undefined) prepareInBackground(superCluster, controlPlanes, stack, log)
  log.info({ url: url() }, "gateway is ready")
  return { url: url(), keys, metrics, tenants, superCluster, superClusterLost }
}

type Log = NonNullable<GatewayOptions["log"]>

export function prepareInBackground(
  superCluster: ControlPlane,
  controlPlanes: ControlPlanes,
  stack: AsyncDisposableStack,
  log: Log,
): void {
  const prepare = (each: ControlPlane): Promise<void> => controlPlanes.prepare(each)
  runUntilDisposed(stack, (signal) => prepareUntilDone(superCluster, prepare, signal, log))
}
