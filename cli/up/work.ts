// The parts that work on objects: operator, syncer and controllers. A simulated super cluster belongs to this process alone, so
// they start at once, and it holds the Leases; for one that other processes may use, Leases determine which process works.

import { createHash, randomUUID } from "node:crypto"
import { hostname } from "node:os"
import type { Node } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { clusterVersions } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { singleCluster } from "../../client/single-cluster.ts"
import { Gateway, type RunningGateway } from "../../gateway/main.ts"
import { createCertificateSigner } from "../../gateway/tenancy/certificate-signer.ts"
import { defaultClusterVersion, type Operator, startOperator } from "../../operator/main.ts"
import { type NodeEndpoint, startSyncer } from "../../syncer/main.ts"
import { UserError } from "../command.ts"
import {
  controllersLease,
  holdForever,
  Leadership,
  operatorLease,
  replicaTimes,
  syncerLease,
} from "../compose/leadership.ts"

/** The controllers that a super cluster without its own controller manager needs. */
const superControllers = [
  "namespace",
  "serviceaccount",
  "root-ca-certificate-publisher",
  "endpoints",
  "endpointslice",
  "persistentvolumeclaim-protection",
  "persistentvolume-protection",
  "garbage-collector",
  "resourcequota",
]
/** How long to wait for another Polyplane that works on the super cluster: the Leases of a killed one last a minute. */
const leaderTimeoutMs = 75_000
/** Interval of checking whether VirtualClusters are served. */
const servedMs = 100

/** A tenth of the program, which answers no requests: loaded when the gateway serves already. */
const loadControllers = () => import("../../controllers/main.ts")

interface WorkOptions {
  gateway: RunningGateway
  superClient: KubeClient
  /** The address of a node's vn-agent, for the node that tenants see. */
  vnAgentEndpoint: (node: Node) => NodeEndpoint | undefined
  log: Log
  metrics: ClientMetrics
}

/** Puts what it starts on the stack. */
export type Background = (stack: AsyncDisposableStack) => Promise<void>

interface Work extends WorkOptions {
  operator(): Promise<Operator>
  syncer(): Promise<AsyncDisposable>
  controllers(): Promise<AsyncDisposable>
}

export function workOf(options: WorkOptions): Work {
  const { gateway, superClient, vnAgentEndpoint, log, metrics } = options
  const working = { tenants: gateway.tenants, superClient, log, metrics }
  return {
    ...options,
    async operator() {
      const operator = await startOperator(working)
      // Does not wait until it has seen all VirtualClusters: there may be thousands, and their tenants are already served.
      await operator.whenServed()
      return operator
    },
    syncer: () => startSyncer({ ...working, vnAgentEndpoint }),
    async controllers() {
      // Workers run the controllers of their own tenants.
      if (!(gateway instanceof Gateway)) return new AsyncDisposableStack()
      const { startControllers } = await loadControllers()
      const signer = createCertificateSigner(gateway.tenants)
      const rootCertificateAuthority = gateway.certificateAuthority
      return startControllers(gateway.tenants, { rootCertificateAuthority, signer, log, metrics })
    },
  }
}

/**
 * Starts the parts that callers wait for. Returns a function that starts those that read all objects, which takes seconds with
 * thousands of tenants.
 */
export async function startWithSimulator(
  work: Work,
  simulate: () => Promise<AsyncDisposable>,
  stack: AsyncDisposableStack,
): Promise<Background> {
  const { gateway, superClient, log } = work
  await holdForever(superClient, identityOf(gateway), [syncerLease, operatorLease])
  const operator = stack.use(await work.operator())
  stack.use(await simulate())
  return async (running) => {
    // First, because somebody may be waiting for a new tenant; what is there already has been served before.
    await operator.whenReady()
    const rootCertificateAuthority = gateway.certificateAuthority
    const { startControllers } = await loadControllers()
    running.use(
      startControllers(singleCluster(superClient, "super", log), {
        rootCertificateAuthority,
        only: superControllers,
        log,
      }),
    )
    running.use(await work.syncer())
    running.use(await work.controllers())
  }
}

/** Other processes share this storage: the leader works for all, and the rest stand by. */
export async function startAmongReplicas(work: Work, stack: AsyncDisposableStack): Promise<void> {
  const { gateway, superClient, log, metrics } = work
  const identity = `${identityOf(gateway)}-${randomUUID()}`
  const common = { client: superClient, identity, log, metrics, times: replicaTimes }
  const lead = (name: string, begin: () => Promise<AsyncDisposable>) =>
    void stack.use(Leadership.start({ ...common, name, work: begin }))
  lead(controllersLease, () => work.controllers())
  lead(syncerLease, () => work.syncer())
  lead(operatorLease, () => work.operator())
  await untilServed(superClient)
}

/** The tenants belong to this process alone, but other processes may work on the super cluster, one at a time. */
export async function startAlone(work: Work, stack: AsyncDisposableStack): Promise<void> {
  const { gateway, superClient, log, metrics } = work
  stack.use(await work.controllers())
  const common = { client: superClient, identity: identityOf(gateway), log, metrics }
  const lead = (name: string, begin: () => Promise<AsyncDisposable>) =>
    stack.use(Leadership.start({ ...common, name, work: begin })).untilWorking(leaderTimeoutMs)
  await lead(syncerLease, () => work.syncer())
  await lead(operatorLease, () => work.operator())
}

/** The leader makes the super cluster serve VirtualClusters; an earlier leader may have done so already. */
async function untilServed(superClient: KubeClient): Promise<void> {
  const late = AbortSignal.timeout(leaderTimeoutMs)
  while (!late.aborted) {
    try {
      await superClient.get(clusterVersions, undefined, defaultClusterVersion)
      return
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    await pause(systemClock, servedMs, late)
  }
  throw new UserError(
    `no operator serves VirtualClusters in the super cluster; check the holder of the Lease ${operatorLease}`,
  )
}

/** Unchanged by a restart with the same data directory. */
function identityOf({ certificateAuthority }: RunningGateway): string {
  return `${hostname()}-${createHash("sha256").update(certificateAuthority).digest("hex").slice(0, 12)}`
}
