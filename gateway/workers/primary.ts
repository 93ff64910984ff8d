// The first process of several: it serves the super cluster and owns the tenants' records, accepts client connections and passes
// them to the workers, and assigns tenants to workers. From outside it is indistinguishable from a single gateway.
//
// All processes belong to one machine and one user. The primary holds the lock of the data directory; each tenant's store has its
// own lock, held by its owner: two processes never have the same tenant open, whatever they assume.

import type { ChildProcess } from "node:child_process"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { pino } from "pino"
import { systemClock } from "../../client/clock.ts"
import { tcpKeepAlive } from "../../client/http/tcp-keep-alive.ts"
import type { RequestState } from "../filters/state.ts"
import { Arrivals } from "../request/arrivals.ts"
import { advertisedBy, defaultHost, servingNames, urlOf } from "../addresses.ts"
import { listen } from "../connections/listener.ts"
import { type GatewayParts, prepareInBackground, RunningGateway } from "../main.ts"
import { defaultLimits, type GatewayLimits, type GatewayOptions } from "../options.ts"
import { keepCertificates } from "../pki/renewal.ts"
import { createHandlers, type ServerParts } from "../server.ts"
import { ControlPlanes } from "../control-plane/control-planes.ts"
import { DataDirectory } from "../stores/data-directory.ts"
import { loadCertificates, loadGatewayKeys } from "../pki/gateway-keys.ts"
import type { TenantLookup } from "../tenancy/tenant-resolver.ts"
import { createSecret, ForwardedIdentity } from "./forwarded-identity.ts"
import { Forwarder } from "./forward.ts"
import type { PrimaryCalls, WorkerSetup } from "./messages.ts"
import { SharedMetrics } from "./metrics.ts"
import { WorkerPool } from "./pool.ts"
import { listenPrivately, socketPath } from "./private-server.ts"
import { primary, Routes } from "./routes.ts"
import { SpreadTenants } from "./spread-tenants.ts"
import type { Handlers } from "./channel.ts"

export interface PrimaryOptions extends Omit<GatewayOptions, "nodeDialer" | "serviceAddresses" | "podUsage"> {
  /** For the super cluster only; workers have their own for tenants. */
  nodeDialer: NonNullable<GatewayOptions["nodeDialer"]>
  serviceAddresses: NonNullable<GatewayOptions["serviceAddresses"]>
  workers: {
    count: number
    /** Spawns a process that runs a WorkerGateway. */
    spawn: () => ChildProcess
    /** Sent to each worker, for its components beside the gateway. Plain data. */
    composition: unknown
    /** Handlers for the workers' calls to this composition. */
    handlers: Handlers<Omit<PrimaryCalls, "stored">>
  }
}

/** Unix limits the path of a socket to about a hundred bytes. */
const maxSocketDirectory = 80
/** Added to the workers' own time for requests in progress. */
const stopGraceMs = 5_000

/** Throws StartError if the user can correct the cause. */
export async function startPrimary(options: PrimaryOptions): Promise<RunningGateway<SpreadTenants>> {
  await using stack = new AsyncDisposableStack()
  const parts = await start(options, stack)
  return new RunningGateway(parts, stack.move())
}

async function start(options: PrimaryOptions, stack: AsyncDisposableStack): Promise<GatewayParts<SpreadTenants>> {
  const log = options.log ?? pino({ name: "gateway" }, pino.destination(2))
  const limits = { ...defaultLimits, ...options.limits }
  const { dataDir, storeLimits, verifiedTables, clock = systemClock } = options
  const data = stack.use(await DataDirectory.open(dataDir, storeLimits, { ahead: verifiedTables, log }))
  const names = servingNames(options)
  const keys = await loadGatewayKeys(data.keys, names, clock)
  // Workers use the certificates that this writes.
  keepCertificates(keys, () => loadCertificates(data.keys, names, keys, clock), undefined, stack, { log, clock })
  let pool: WorkerPool | undefined
  const metrics = stack.use(new SharedMetrics(limits, async () => (await pool?.metrics()) ?? [], options.clientMetrics))
  const { port, stopAccepting } = await acceptClients(options, () => pool, stack)
  const url = urlOf(options, port)
  const advertised = advertisedBy(options)(port)
  const addresses = { url: () => url, advertised: () => advertised }
  const controlPlanes = new ControlPlanes({ options, data, keys, ...addresses, limits, log })
  const superCluster = options.superCluster === true ? stack.use(await controlPlanes.openSuper()) : undefined
  const nobody = stack.use(await controlPlanes.openAnonymous())

  const secret = createSecret()
  const identity = new ForwardedIdentity(secret)
  const socketDirectory = await createSocketDirectory(dataDir, stack)
  const routes = new Routes(primary)
  const { count, spawn, handlers } = options.workers
  pool = new WorkerPool({
    count,
    spawn,
    handlers: { ...handlers, stored: (tenant) => tenants.recordStored(tenant) },
    setup: (self) => ({ self, socketDirectory, secret, url, advertised, ...setupOf(options, limits) }),
    routes: () => tenants.allRoutes(),
    headers: () => identity.ownHeaders(keys.administrator.certificate),
    maxConnections: limits.maxConnections,
    stopMs: limits.shutdownMs + stopGraceMs,
    log,
  })
  const tenants = await SpreadTenants.open({
    pool,
    routes,
    store: data.store,
    removeStore: (uid) => data.removeStore(uid),
    issuerOf: (name) => controlPlanes.issuerOf(name),
    addressOf: (name) => controlPlanes.addressOf(name),
    log,
  })
  metrics.follow(tenants)

  const resolver = controlPlanes.resolver({ tenants: none, superCluster, nobody })
  const { domain, audit } = options
  const parts = { serving: keys.serving, domain, resolver, admin: { tenants, limits }, metrics, limits, log, audit }
  await serveWorkers(parts, { routes, identity, socketDirectory }, stack)
  stack.use(pool)
  stack.use(tenants)
  await tenants.start()
  if (superCluster !== undefined) prepareInBackground(superCluster, controlPlanes, stack, log)
  stack.defer(stopAccepting)
  log.info({ url, workers: count }, "gateway is ready")
  return { url, metrics, keys, tenants, superCluster }
}

/** Accepts connections from the beginning; they wait until there is a worker. On shutdown the caller stops this first. */
async function acceptClients(
  options: PrimaryOptions,
  pool: () => WorkerPool | undefined,
  stack: AsyncDisposableStack,
): Promise<{ port: number; stopAccepting: () => void }> {
  const acceptor = createServer({ pauseOnConnect: true, ...tcpKeepAlive }, (socket) => accept(socket, pool()))
  const port = await listen(acceptor, options.host ?? defaultHost, options.port ?? 0)
  const stopAccepting = (): void => void acceptor.close()
  stack.defer(stopAccepting) // if the start fails
  return { port, stopAccepting }
}

/** Answers the workers' requests, and forwards to the owner of a tenant what this process must not answer itself. */
async function serveWorkers(
  parts: Omit<ServerParts, "forward">,
  { routes, identity, socketDirectory }: { routes: Routes; identity: ForwardedIdentity; socketDirectory: string },
  stack: AsyncDisposableStack,
): Promise<void> {
  const { limits } = parts
  const socketOf = (owner: number): string => socketPath(socketDirectory, owner)
  const forwarder = stack.use(new Forwarder({ routes, identity, socketOf, limits }))
  const active = new Arrivals<RequestState>()
  const handlers = createHandlers({ ...parts, forward: forwarder.filter }, active)
  const path = socketOf(primary)
  stack.use(await listenPrivately({ path, handlers, identity, active, shutdownMs: limits.shutdownMs }))
}

/** What the options say to all workers. */
function setupOf(
  { dataDir, domain, http2 = true, serviceRanges = [], allowedNetworks = [], limits, workers }: PrimaryOptions,
  { maxAwakeTenants, maxAwakeBytes }: GatewayLimits,
): Omit<WorkerSetup, "self" | "socketDirectory" | "secret" | "url" | "advertised"> {
  return {
    dataDir,
    ...(domain === undefined ? {} : { domain }),
    http2,
    serviceRanges,
    allowedNetworks,
    // All workers together may have as many tenants awake as a single gateway.
    limits: {
      ...limits,
      maxAwakeTenants: Math.ceil(maxAwakeTenants / workers.count),
      maxAwakeBytes: Math.ceil(maxAwakeBytes / workers.count),
    },
    composition: workers.composition,
  }
}

/** This process has no tenants of its own. */
const none: TenantLookup = {
  byName: () => undefined,
  forCaller: () => undefined,
  byAuthority: () => undefined,
  byIssuer: () => undefined,
  mayBeOf: () => false,
}

function accept(socket: Socket, pool: WorkerPool | undefined): void {
  socket.on("error", () => socket.destroy()) // the client disconnected before the transfer
  if (pool === undefined) socket.destroy()
  else pool.hand(socket)
}

/** In the data directory, or in the system's temporary directory if its path is too long for sockets. */
async function createSocketDirectory(dataDir: string, stack: AsyncDisposableStack): Promise<string> {
  const beside = join(resolve(dataDir), "run")
  const isShort = Buffer.byteLength(beside) <= maxSocketDirectory
  const directory = isShort ? beside : await mkdtemp(join(tmpdir(), "polyplane-"))
  // Sockets of an earlier start belong to processes that have ended.
  if (isShort) await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true, mode: 0o700 })
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  return directory
}
