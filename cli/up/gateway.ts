// The gateway of `polyplane up`, in this process or with workers. Its options refer to parts that start after it.

import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { KubeObject, Service } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { serviceCIDRs, services } from "../../client/resources.ts"
import type { PodUsageProvider } from "../../client/pod-usage.ts"
import type { KubeClient } from "../../client/rest.ts"
import { isLoopback } from "../../gateway/addresses.ts"
import { localNetworks } from "../../gateway/backends/networks.ts"
import { Gateway, type RunningGateway } from "../../gateway/main.ts"
import type { GatewayOptions } from "../../gateway/options.ts"
import { RangeServiceAddresses } from "../../gateway/registry/core/services/addresses.ts"
import type { PrimaryOptions } from "../../gateway/workers/primary.ts"
import type { Simulator } from "../../simulator/main.ts"
import { kubeletDialer, vnAgentDialer } from "../compose/node-dialers.ts"
import { superAddressesOf } from "../compose/service-addresses.ts"
import { started } from "../compose/started.ts"
import type { AuditLog } from "../log/audit-log.ts"
import type { AllInOneOptions } from "./options.ts"
import type { NodeAuthority } from "./node-authority.ts"
import type { RealNodes } from "./real-nodes.ts"
import type { WorkerComposition } from "./worker-process.ts"

const superServiceRange = "10.96.0.0/12"

/** The gateway uses them for the first Service or the first request for logs, when they have started. */
export interface Parts {
  gateway?: RunningGateway
  simulator?: Simulator
  agents?: Agents
}

/** The vn-agents of a real or simulated super cluster's nodes. */
type Agents = Pick<RealNodes, "agentEndpoint">

type StartOptions = GatewayOptions & Pick<PrimaryOptions, "nodeDialer" | "serviceAddresses">

interface GatewayParts {
  /** A client of a real super cluster. Undefined: the gateway serves the super cluster, too. */
  real: KubeClient | undefined
  podUsage: PodUsageProvider | undefined
  superClient: () => KubeClient
  authority: NodeAuthority
  parts: Parts
  metrics: ClientMetrics
  audit: AuditLog | undefined
}

/** Starts the gateway in this process, or with workers. */
export async function startGateway(options: AllInOneOptions, base: GatewayParts): Promise<RunningGateway> {
  const { workers, superKubeconfig, logLevel, auditLog } = options
  const { audit, authority, parts } = base
  const gatewayOptions = await gatewayOptionsOf(options, base)
  if (workers === 1) return Gateway.start(gatewayOptions)
  const { startPrimary } = await import("../../gateway/workers/primary.ts")
  const composition: WorkerComposition = {
    nodeAuthority: authority.certificateAuthority,
    logLevel,
    ...(auditLog === undefined ? {} : { auditLog }),
    ...(superKubeconfig === undefined ? {} : { superKubeconfig }),
  }
  const spawn = () => spawnWorker(audit, auditLog === "-")
  const handlers = {
    agentEndpoint: (node: string) => started(parts.agents, "vn-agents").agentEndpoint(node),
  }
  return startPrimary({ ...gatewayOptions, workers: { count: workers, spawn, composition, handlers } })
}

async function gatewayOptionsOf(
  options: AllInOneOptions,
  { real, podUsage, superClient, authority, parts, metrics, audit }: GatewayParts,
): Promise<StartOptions> {
  const { log } = options
  return {
    dataDir: options.dataDir,
    ...(options.verifiedTables === undefined ? {} : { verifiedTables: options.verifiedTables }),
    ...(options.etcd === undefined ? {} : { etcd: options.etcd }),
    host: options.host,
    port: options.port,
    ...(options.domain === undefined ? {} : { domain: options.domain }),
    http2: options.http2 ?? true,
    ...(options.advertiseAddress === undefined ? {} : { advertiseAddress: options.advertiseAddress }),
    superCluster: real === undefined,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    // A client that reaches a gateway on loopback is already on this machine.
    allowedNetworks: [...(isLoopback(options.host) ? localNetworks : []), ...(options.allowedNetworks ?? [])],
    serviceRanges: real === undefined ? [superServiceRange] : await serviceRangesOf(real),
    serviceAddresses: superAddressesOf({
      superClient,
      ofSuper: () => simulatedAddresses(superClient),
      tenantClient: (tenant) => started(parts.gateway, "gateway").tenants.client(tenant),
      isShared: options.etcd !== undefined,
      log,
    }),
    ...(podUsage === undefined ? {} : { podUsage }),
    nodeDialer: (tenant) =>
      tenant === undefined
        ? kubeletDialer(authority)
        : vnAgentDialer(tenant, {
            signer: () => started(parts.gateway, "gateway").tenantTokenSigner,
            certificateAuthority: () => authority.certificateAuthority,
            endpoint: (node) => started(parts.agents, "vn-agents").agentEndpoint(node),
          }),
    log,
    ...(audit === undefined ? {} : { audit: audit.log }),
    clientMetrics: metrics,
  }
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

/** Of the simulated super cluster's own Services. */
function simulatedAddresses(superClient: () => KubeClient): RangeServiceAddresses {
  const load = async (): Promise<Service[]> => (await superClient().list<Service>(services)).items
  return new RangeServiceAddresses({ cidr: superServiceRange, load })
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
