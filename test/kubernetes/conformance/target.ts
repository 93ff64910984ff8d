// The cluster under test: a tenant of a separate Polyplane, on one of the super clusters, or a real cluster itself as the
// control.

import { once } from "node:events"
import { connectCluster } from "../../../cli/compose/cluster.ts"
import { silentLog, type Log } from "../../../client/log.ts"
import { startPolyplane } from "../../harness/polyplane.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { installCoreDNS } from "../node/core-dns.ts"
import { provideLocalVolumes } from "../node/local-volumes.ts"
import { RealKubernetes } from "../node/real-kubernetes.ts"
import { provideResourceMetrics } from "../node/resource-metrics.ts"

export const superClusters = ["simulated", "kwok", "node"] as const
export type SuperCluster = (typeof superClusters)[number]

const tenant = "conformance"
/** The simulated super cluster has one more. */
export const nodes = 2
/** A machine that has just started a cluster is busy. */
const readyTimeoutMs = 120_000

interface Target extends AsyncDisposable {
  /** The path of the kubeconfig. */
  kubeconfig: string
  /** Returns Polyplane's log output. */
  log: () => string
}

export interface TargetOptions {
  /** Whether real nodes' usage, and that of the pods on them, is served. */
  resourceMetrics: boolean
  say: (what: string) => void
}

/** The names of the super clusters in the report. */
export const superClusterNames: Record<SuperCluster, string> = {
  simulated: "the simulated super cluster",
  kwok: "a real control plane with nodes simulated by kwok",
  node: "a real cluster of two real nodes",
}

export async function startControl(options: TargetOptions): Promise<Target> {
  await using stack = new AsyncDisposableStack()
  const cluster = await startNodes(stack, options)
  const ending = stack.move()
  return {
    kubeconfig: cluster.kubeconfig,
    log: () => "",
    [Symbol.asyncDispose]: () => ending[Symbol.asyncDispose](),
  }
}

/** Includes volumes, and metrics if they are wanted. They end with the stack. */
async function startNodes(
  stack: AsyncDisposableStack,
  { resourceMetrics, say }: TargetOptions,
): Promise<RealKubernetes> {
  const cluster = stack.use(await RealKubernetes.start({ nodes, say }))
  const log: Log = { ...silentLog, error: ({ err, error }, message) => say(`${message}: ${error ?? String(err)}`) }
  stack.use(await provideLocalVolumes(cluster, log))
  if (resourceMetrics) {
    say("metrics of the nodes")
    stack.use(await provideResourceMetrics(cluster))
  }
  return cluster
}

export async function startTarget(superCluster: SuperCluster, options: TargetOptions): Promise<Target> {
  const { say } = options
  await using stack = new AsyncDisposableStack()
  const args = ["--tenants", tenant]
  if (superCluster === "kwok") {
    const cluster = stack.use(await TestKubernetes.start({ nodes, controllerManager: true, scheduler: true }))
    args.push("--super-kubeconfig", cluster.kubeconfig)
  }
  if (superCluster === "node") {
    const cluster = await startNodes(stack, options)
    args.push("--super-kubeconfig", cluster.kubeconfig)
    // Pods reach the gateway, and thus their own API server, at this machine's address in the nodes' network.
    args.push("--host", cluster.hostAddress)
  }
  say("Polyplane")
  const polyplane = stack.use(await startPolyplane({ args, readyTimeoutMs }))
  const kubeconfig = polyplane.kubeconfig(tenant)
  if (superCluster === "node") {
    say("DNS of the tenant")
    await using client = await connectCluster(kubeconfig)
    await installCoreDNS(client)
  }
  const ending = stack.move()
  return {
    kubeconfig,
    log: () => polyplane.stderr,
    [Symbol.asyncDispose]: () => ending[Symbol.asyncDispose](),
  }
}

/** Aborts on the first SIGINT or SIGTERM; a second one ends the process as usual. */
export function stopSignal(): AbortSignal {
  const stopping = new AbortController()
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    void once(process, name).then(() => stopping.abort())
  }
  return stopping.signal
}
