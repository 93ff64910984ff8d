// One gateway of several: it serves the tenants that the primary assigns to it, and accepts connections of all clients. Requests
// for other tenants are forwarded to their owners over private sockets, and other processes forward theirs in the same way.
//
//   clients ─ primary accepts, hands over ─▶ TLS ─┐                    ┌─▶ private socket of the tenant's owner
//   other processes ─▶ private socket ────────────┴─▶ chain, forward ──┤
//                                                                      └─▶ its own tenants

import type { Socket } from "node:net"
import { systemClock } from "../../client/clock.ts"
import { createHttpClient } from "../../client/http/client.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { RequestState } from "../filters/state.ts"
import { Arrivals } from "../request/arrivals.ts"
import { endStreamsOfDeleted } from "../connections/of-deleted-tenants.ts"
import { Metrics } from "../metrics/metrics.ts"
import { defaultLimits, type GatewayOptions } from "../options.ts"
import { keepCertificates } from "../pki/renewal.ts"
import { createGatewayServer, createHandlers } from "../server.ts"
import { ControlPlanes } from "../control-plane/control-planes.ts"
import { DataDirectory } from "../stores/data-directory.ts"
import { loadCertificates, loadGatewayKeys, type GatewayKeys } from "../pki/gateway-keys.ts"
import { openTenants } from "../tenancy/open-tenants.ts"
import type { RecordStored } from "../tenancy/stored-marks.ts"
import type { TenantDirectory } from "../tenancy/tenant-directory.ts"
import { ClientConnections } from "./client-connections.ts"
import { ForwardedIdentity } from "./forwarded-identity.ts"
import { Forwarder } from "./forward.ts"
import type { WorkerSetup } from "./messages.ts"
import { listenPrivately, socketPath } from "./private-server.ts"
import { Residents } from "./residents.ts"
import { primary, Routes } from "./routes.ts"

type WorkerOptions = Pick<
  GatewayOptions,
  "serviceAddresses" | "nodeDialer" | "podUsage" | "clientMetrics" | "audit"
> & {
  setup: WorkerSetup
  log: Log
  /** The primary has the tenants' records. */
  recordStored: RecordStored
}

export class WorkerGateway implements AsyncDisposable {
  readonly tenants: TenantDirectory
  readonly residents: Residents
  readonly routes: Routes
  readonly keys: GatewayKeys
  readonly metrics: Metrics
  /** A client with administrator rights for the super cluster, if the primary serves one. */
  readonly superClient: KubeClient
  readonly #connections: ClientConnections
  readonly #stack: AsyncDisposableStack

  private constructor(
    parts: Pick<WorkerGateway, "tenants" | "residents" | "routes" | "keys" | "metrics" | "superClient"> & {
      connections: ClientConnections
    },
    stack: AsyncDisposableStack,
  ) {
    this.tenants = parts.tenants
    this.residents = parts.residents
    this.routes = parts.routes
    this.keys = parts.keys
    this.metrics = parts.metrics
    this.superClient = parts.superClient
    this.#connections = parts.connections
    this.#stack = stack
  }

  static async start(options: WorkerOptions): Promise<WorkerGateway> {
    await using stack = new AsyncDisposableStack()
    const { setup, log, recordStored } = options
    const limits = { ...defaultLimits, ...setup.limits }
    const data = stack.use(DataDirectory.beside(setup.dataDir))
    const keys = await loadGatewayKeys(data.keys, undefined) // created by the primary
    const metrics = stack.use(new Metrics(limits, options.clientMetrics))
    const { serviceRanges, allowedNetworks } = setup
    const controlPlanes = new ControlPlanes({
      options: { ...options, serviceRanges, allowedNetworks },
      data,
      keys,
      url: () => setup.url,
      advertised: () => setup.advertised,
      limits,
      log,
    })
    const nobody = stack.use(await controlPlanes.openAnonymous())
    const tenants = stack.use(await openTenants({ data, controlPlanes, metrics, limits, log, recordStored }))

    const routes = new Routes(setup.self)
    const identity = new ForwardedIdentity(setup.secret)
    const socketOf = (owner: number): string => socketPath(setup.socketDirectory, owner)
    const forwarder = stack.use(new Forwarder({ routes, identity, socketOf, limits }))
    const active = new Arrivals<RequestState>()
    const parts = {
      serving: keys.serving,
      domain: setup.domain,
      http2: setup.http2,
      resolver: controlPlanes.resolver({ tenants: tenants.lookup, superCluster: undefined, nobody }),
      admin: { tenants, limits },
      metrics,
      limits,
      log,
      audit: options.audit,
      forward: forwarder.filter,
    }
    const handlers = createHandlers(parts, active)
    const path = socketOf(setup.self)
    stack.use(await listenPrivately({ path, handlers, identity, active, shutdownMs: limits.shutdownMs }))
    const server = createGatewayServer(parts, handlers, active)
    stack.defer(endStreamsOfDeleted(tenants, active))
    const connections = stack.use(new ClientConnections(server, active, limits))
    const load = () => loadCertificates(data.keys, undefined, keys, systemClock)
    keepCertificates(keys, load, server, stack, { log })
    const headers = () => identity.ownHeaders(keys.administrator.certificate)
    const superClient = stack.use(
      createHttpClient({ server: "http://primary", socketPath: socketOf(primary), headers }),
    )
    const residents = new Residents({ tenants, routes, log })
    return new WorkerGateway({ tenants, residents, routes, keys, metrics, superClient, connections }, stack.move())
  }

  /** Accepts a client's connection from the primary. */
  accept(socket: Socket): void {
    this.#connections.accept(socket)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}
