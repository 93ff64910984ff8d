// All parts in one process: the composition behind `polyplane up`. The parts start in the order of the code, each using those
// before it, and stop in reverse order.

import { runUntilDisposed } from "../../client/background.ts"
import type { Log } from "../../client/log.ts"
import { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import type { KubeClient } from "../../client/rest.ts"
import { namespaces, serviceCIDRs, services } from "../../client/resources.ts"
import type { Tenant } from "../../client/tenants.ts"
import { type ChildProcess, fork } from "node:child_process"
import path from "node:path"
import { fileURLToPath } from "node:url"
import type { KubeObject, Node, Service } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { isLoopback } from "../../gateway/addresses.ts"
import { localNetworks } from "../../gateway/backends/networks.ts"
import type { GatewayLimits, GatewayOptions } from "../../gateway/options.ts"
import { Gateway, type RunningGateway } from "../../gateway/main.ts"
import type { PrimaryOptions } from "../../gateway/workers/primary.ts"
import { RangeServiceAddresses } from "../../gateway/registry/core/services/addresses.ts"
import type { EtcdStorageOptions } from "../../gateway/stores/etcd-storage.ts"
import type { ServiceAddresses } from "../../gateway/control-plane/service-addresses.ts"
import { nodeNames, startSimulator, type Simulator } from "../../simulator/main.ts"
import { createPodUsage, createServiceAddresses } from "../../syncer/main.ts"
import type { TlsIdentity } from "../../client/http/transport.ts"
import { createLastingClient, readKubeconfigFile } from "../compose/cluster.ts"
import { kubeletDialer, vnAgentDialer } from "../compose/node-dialers.ts"
import { type AuditLog, openAuditLog } from "../log/audit-log.ts"
import type { LogLevel } from "../log/log.ts"
import { KeptPorts } from "./kept-ports.ts"
import { RealNodes } from "./real-nodes.ts"
import { createNodeAuthority, renewNodeCertificates, type NodeAuthority } from "./node-authority.ts"
import { SimulatedNodes, type SimulatedNodesOptions } from "./simulated-nodes.ts"
import { type Background, startAlone, startAmongReplicas, startWithSimulator, workOf } from "./work.ts"
import type { WorkerComposition } from "./worker-process.ts"

/** How long a real super cluster may take to respond at the start. */
const superTimeoutMs = 10_000
const superServiceRange = "10.96.0.0/12"

export interface AllInOneOptions {
  dataDir: string
  host: string
  port: number
  domain?: string
  /** The address at which pods reach this process; default: this machine's address. */
  advertiseAddress?: string
  /** Number of nodes of the simulated super cluster. */
  nodes: number
  /** Kubeconfig of a real super cluster, which replaces the simulated one. */
  superKubeconfig?: string
  limits?: Partial<GatewayLimits>
  /** Stores all data in etcd instead of the data directory. With a real super cluster, several processes may share it. */
  etcd?: EtcdStorageOptions
  /** Offers HTTP/2. Default true. */
  http2?: boolean
  /** If greater than one, the tenants are distributed over this many worker processes. */
  workers: number
  logLevel: LogLevel
  log: Log
  /** File to append an entry per request to, or "-". */
  auditLog?: string
}

/** The gateway uses them for the first Service or the first request for logs, when they have started. */
interface Parts {
  gateway?: RunningGateway
  simulator?: Simulator
  agents?: Agents
}

/** The vn-agents of a real or simulated super cluster's nodes. */
type Agents = Pick<RealNodes, "agentEndpoint">

export class AllInOne implements AsyncDisposable {
  readonly gateway: RunningGateway
  readonly superClient: KubeClient
  readonly #stack: AsyncDisposableStack
  #background: Background | undefined

  private constructor(
    gateway: RunningGateway,
    superClient: KubeClient,
    stack: AsyncDisposableStack,
    background: Background | undefined,
  ) {
    this.gateway = gateway
    this.superClient = superClient
    this.#stack = stack
    this.#background = background
  }

  static async start(options: AllInOneOptions): Promise<AllInOne> {
    await using stack = new AsyncDisposableStack()
    const { log } = options
    const metrics = new ClientMetrics()
    const superConfig =
      options.superKubeconfig === undefined ? undefined : await readKubeconfigFile(options.superKubeconfig)
    let realNodes: RealNodes | undefined
    const renewed = (identity: TlsIdentity) => realNodes?.renew(identity)
    const real =
      superConfig === undefined ? undefined : stack.use(createLastingClient(superConfig, { log, metrics, renewed }))
    // Checked before anything else starts. If the super cluster becomes unavailable later, the parts wait for it.
    await real?.list(namespaces, { limit: 1, signal: AbortSignal.timeout(superTimeoutMs) })
    const authority = await createNodeAuthority()

    const audit = options.auditLog === undefined ? undefined : stack.use(openAuditLog(options.auditLog))
    const parts: Parts = {}
    const superClient = (): KubeClient => real ?? required(parts.gateway?.superCluster, "super cluster").client
    const gateway = await startGateway(
      options,
      await gatewayOptionsOf(options, { real, superClient, authority, parts, metrics, audit: audit?.log }),
      {
        audit,
        nodeAuthority: authority.certificateAuthority,
        agentEndpoint: (node) => required(parts.agents, "vn-agents").agentEndpoint(node),
      },
    )
    parts.gateway = stack.use(gateway)
    if (real !== undefined && superConfig !== undefined) {
      const signer = gateway.tenantTokenSigner
      parts.agents = realNodes = stack.use(new RealNodes({ superClient: real, superConfig, authority, signer, log }))
    }

    const names = real === undefined ? nodeNames(options.nodes) : []
    const ports = await KeptPorts.read(path.join(options.dataDir, "simulated-nodes.json"))
    const sandbox: SimulatedNodesOptions["sandbox"] = (...pod) => parts.simulator?.sandbox(...pod)
    const nodes = stack.use(await SimulatedNodes.start({ names, ports, authority, sandbox, log }))
    await nodes.startAgents(superClient(), gateway.tenantTokenSigner)
    parts.agents ??= nodes
    const renewNodes = () => [nodes, realNodes].forEach((some) => some?.renew())
    runUntilDisposed(stack, (signal) => renewNodeCertificates(authority, renewNodes, { signal, log }))
    const vnAgentEndpoint = (node: Node) => nodes.agentAddress(node.metadata.name ?? "")
    let background: Background | undefined
    const work = workOf({ gateway, superClient: superClient(), vnAgentEndpoint, log, metrics })
    if (real === undefined) {
      const kubeletPort = (node: string) => nodes.kubeletPort(node)
      const simulate = async (): Promise<Simulator> =>
        (parts.simulator = await startSimulator({ client: superClient(), nodes: options.nodes, kubeletPort, log }))
      background = await startWithSimulator(work, simulate, stack)
    } else if (options.etcd !== undefined) {
      await startAmongReplicas(work, stack)
    } else {
      await startAlone(work, stack)
    }
    return new AllInOne(gateway, superClient(), stack.move(), background)
  }

  /** Starts background work; call it after reporting that tenants are served. Later calls do nothing. */
  async beginBackground(): Promise<void> {
    const background = this.#background
    this.#background = undefined
    await background?.(this.#stack)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}

type StartOptions = GatewayOptions & Pick<PrimaryOptions, "nodeDialer" | "serviceAddresses">

/** `real`: a client of a real super cluster. */
async function gatewayOptionsOf(
  options: AllInOneOptions,
  base: {
    real: KubeClient | undefined
    superClient: () => KubeClient
    authority: NodeAuthority
    parts: Parts
    metrics: ClientMetrics
    audit: Log | undefined
  },
): Promise<StartOptions> {
  const { log } = options
  const { real, superClient, authority, parts, metrics, audit } = base
  return {
    dataDir: options.dataDir,
    ...(options.etcd === undefined ? {} : { etcd: options.etcd }),
    host: options.host,
    port: options.port,
    ...(options.domain === undefined ? {} : { domain: options.domain }),
    http2: options.http2 ?? true,
    ...(options.advertiseAddress === undefined ? {} : { advertiseAddress: options.advertiseAddress }),
    superCluster: real === undefined,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    // A client that reaches a gateway on loopback is already on this machine.
    allowedNetworks: isLoopback(options.host) ? localNetworks : [],
    serviceRanges: real === undefined ? [superServiceRange] : await serviceRangesOf(real),
    serviceAddresses: addressesFor(
      superClient,
      (tenant) => required(parts.gateway, "gateway").tenants.client(tenant.name),
      log,
    ),
    ...(real === undefined ? {} : { podUsage: (tenant) => createPodUsage(real, tenant) }),
    nodeDialer: (tenant) =>
      tenant === undefined
        ? kubeletDialer(authority)
        : vnAgentDialer(tenant, {
            signer: () => required(parts.gateway, "gateway").tenantTokenSigner,
            certificateAuthority: () => authority.certificateAuthority,
            endpoint: (node) => required(parts.agents, "vn-agents").agentEndpoint(node),
          }),
    log,
    ...(audit === undefined ? {} : { audit }),
    clientMetrics: metrics,
  }
}

interface ForWorkers {
  audit: AuditLog | undefined
  /** PEM; signs the serving certificates of nodes and vn-agents of this process. */
  nodeAuthority: string
  agentEndpoint: (node: string) => Promise<{ host: string; port: number }>
}

/** Starts the gateway in this process, or with workers. */
async function startGateway(
  { workers, superKubeconfig, logLevel, auditLog }: AllInOneOptions,
  options: StartOptions,
  { audit, nodeAuthority, agentEndpoint }: ForWorkers,
): Promise<RunningGateway> {
  if (workers === 1) return Gateway.start(options)
  const { PrimaryGateway } = await import("../../gateway/workers/primary.ts")
  const composition: WorkerComposition = {
    nodeAuthority,
    logLevel,
    ...(auditLog === undefined ? {} : { auditLog }),
    ...(superKubeconfig === undefined ? {} : { superKubeconfig }),
  }
  const spawn = () => spawnWorker(audit, auditLog === "-")
  const handlers = { agentEndpoint }
  return PrimaryGateway.start({ ...options, workers: { count: workers, spawn, composition, handlers } })
}

/** The worker's log goes to the log of this process. `prints`: its audit log goes to standard output. */
function spawnWorker(audit: AuditLog | undefined, prints: boolean): ChildProcess {
  const worker = fork(fileURLToPath(new URL("worker.mjs", import.meta.url)), {
    execArgv: process.execArgv,
    stdio: ["ignore", prints ? "inherit" : "ignore", "inherit", "ipc"],
  })
  const stop = audit?.onReopen(() => void worker.kill("SIGHUP"))
  if (stop !== undefined) worker.once("exit", stop)
  return worker
}

function addressesFor(superClient: () => KubeClient, client: (tenant: Tenant) => KubeClient, log: Log) {
  return (tenant: Tenant | undefined): ServiceAddresses => {
    if (tenant === undefined) {
      const load = async (): Promise<Service[]> => (await superClient().list<Service>(services)).items
      return new RangeServiceAddresses({ cidr: superServiceRange, load })
    }
    // Bound late, because tenants are opened before the super cluster is known to respond.
    const claims = () => createServiceAddresses(superClient(), tenant, { tenantClient: () => client(tenant), log })
    let made: ReturnType<typeof claims> | undefined
    return {
      claim: (service, current) => (made ??= claims()).claim(service, current),
      release: (service) => (made ??= claims()).release(service),
    }
  }
}

interface ServiceCIDR extends KubeObject {
  spec?: { cidrs?: string[] }
}

/** Empty for a super cluster that is too old to serve them. */
async function serviceRangesOf(superClient: KubeClient): Promise<string[]> {
  try {
    const { items } = await superClient.list<ServiceCIDR>(serviceCIDRs)
    return items.flatMap(({ spec }) => spec?.cidrs ?? [])
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

function required<T>(part: T | undefined, name: string): T {
  if (part === undefined) throw new Error(`the ${name} has not started yet`)
  return part
}
