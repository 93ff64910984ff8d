// All parts in one process: the composition behind `polyplane up`. The parts start in the order of the code, each using those
// before it, and stop in reverse order.

import path from "node:path"
import type { Node } from "../../apimachinery/object.ts"
import { runUntilDisposed } from "../../client/background.ts"
import type { TlsIdentity } from "../../client/http/transport.ts"
import { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { namespaces } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { RunningGateway } from "../../gateway/main.ts"
import { nodeNames, startSimulator, type Simulator } from "../../simulator/main.ts"
import { createLastingClient, readKubeconfigFile } from "../compose/cluster.ts"
import { podUsageOf } from "../compose/pod-usage.ts"
import { started } from "../compose/started.ts"
import { openAuditLog } from "../log/audit-log.ts"
import { type Parts, startGateway } from "./gateway.ts"
import { KeptPorts } from "./kept-ports.ts"
import { createNodeAuthority, renewNodeCertificates } from "./node-authority.ts"
import type { AllInOneOptions } from "./options.ts"
import { RealNodes } from "./real-nodes.ts"
import { SimulatedNodes, type SimulatedNodesOptions } from "./simulated-nodes.ts"
import { type Background, startAlone, startAmongReplicas, startWithSimulator, workOf } from "./work.ts"

/** How long a real super cluster may take to respond at the start. */
const superTimeoutMs = 10_000

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
    const podUsage = real === undefined ? undefined : podUsageOf(real, stack)
    const authority = await createNodeAuthority()

    const audit = options.auditLog === undefined ? undefined : stack.use(openAuditLog(options.auditLog, log))
    const parts: Parts = {}
    const superClient = (): KubeClient => real ?? started(parts.gateway?.superCluster, "super cluster").client
    const gateway = stack.use(
      await startGateway(options, { real, podUsage, superClient, authority, parts, metrics, audit }),
    )
    parts.gateway = gateway
    if (real !== undefined && superConfig !== undefined) {
      const signer = gateway.tenantTokenSigner
      parts.agents = realNodes = stack.use(new RealNodes({ superClient: real, superConfig, authority, signer, log }))
    }

    const sandbox: SimulatedNodesOptions["sandbox"] = (...pod) => parts.simulator?.sandbox(...pod)
    const names = real === undefined ? nodeNames(options.nodes) : []
    const nodes = stack.use(await startNodes(options, { names, authority, sandbox }))
    await nodes.startAgents(superClient(), gateway.tenantTokenSigner)
    parts.agents ??= nodes
    const renewNodes = () => [nodes, realNodes].forEach((some) => some?.renew())
    runUntilDisposed(stack, (signal) => renewNodeCertificates(authority, renewNodes, { signal, log }))

    const vnAgentEndpoint = (node: Node) => nodes.agentAddress(node.metadata.name ?? "")
    const work = workOf({ gateway, superClient: superClient(), vnAgentEndpoint, log, metrics })
    let background: Background | undefined
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

/** The servers of simulated nodes, on the ports that they had before. None for a real super cluster. */
async function startNodes(
  { dataDir, log }: AllInOneOptions,
  of: Pick<SimulatedNodesOptions, "names" | "authority" | "sandbox">,
): Promise<SimulatedNodes> {
  const ports = await KeptPorts.read(path.join(dataDir, "simulated-nodes.json"))
  return SimulatedNodes.start({ ...of, ports, log })
}
