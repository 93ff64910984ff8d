// What works on objects beside the gateway: operator, syncer and controllers. How they begin depends on whose the super cluster
// is: a simulated one is this process's alone; one that others may work on gives Leases to who does.

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
import { startControllers } from "../../controllers/main.ts"
import { Gateway, type RunningGateway } from "../../gateway/main.ts"
import { createCertificateSigner } from "../../gateway/tenancy/certificate-signer.ts"
import { defaultClusterVersion, startOperator } from "../../operator/main.ts"
import { startSyncer } from "../../syncer/main.ts"
import { UserError } from "../command.ts"
import { controllersLease, Leadership, operatorLease, replicaTimes, syncerLease } from "../compose/leadership.ts"

/** What of the controllers a super cluster without a controller manager of its own needs. */
const superControllers = [
  "namespace",
  "serviceaccount",
  "root-ca-certificate-publisher",
  "endpoints",
  "endpointslice",
  "persistentvolumeclaim-protection",
  "persistentvolume-protection",
  "garbage-collector",
]
/** How long another Polyplane that works on the super cluster is waited for: one that was killed holds its Leases a minute. */
const leaderTimeoutMs = 75_000
/** How often it is looked whether tenants can be asked for. */
const servedMs = 100

export interface WorkOptions {
  gateway: RunningGateway
  superClient: KubeClient
  /** Of a node's vn-agent, for the node as tenants see it. */
  vnAgentEndpoint: (node: Node) => { address: string; port: number } | undefined
  log: Log
  metrics: ClientMetrics
}

/** Puts on the stack what it has begun. */
export type Background = (stack: AsyncDisposableStack) => Promise<void>

export interface Work extends WorkOptions {
  operator(): Promise<AsyncDisposable>
  syncer(): Promise<AsyncDisposable>
  controllers(): AsyncDisposable
}

export function workOf(options: WorkOptions): Work {
  const { gateway, superClient, vnAgentEndpoint, log, metrics } = options
  const working = { tenants: gateway.tenants, superClient, log, metrics }
  return {
    ...options,
    async operator() {
      await using starting = new AsyncDisposableStack()
      // That it has seen all VirtualClusters is not waited for: there may be thousands, and their tenants answer already.
      await starting.use(await startOperator(working)).whenServed()
      return starting.move()
    },
    syncer: () => startSyncer({ ...working, vnAgentEndpoint }),
    controllers() {
      // Workers have the controllers of their own tenants.
      if (!(gateway instanceof Gateway)) return new AsyncDisposableStack()
      const signer = createCertificateSigner(gateway.tenants)
      const rootCertificateAuthority = gateway.certificateAuthority
      return startControllers(gateway.tenants, { rootCertificateAuthority, signer, log, metrics })
    },
  }
}

/** What is waited for. Answers how to begin what reads all there is, for seconds when there are thousands of tenants. */
export async function startWithSimulator(
  work: Work,
  simulate: () => Promise<AsyncDisposable>,
  stack: AsyncDisposableStack,
): Promise<Background> {
  const { gateway, superClient, log } = work
  stack.use(await work.operator())
  stack.use(await simulate())
  return async (running) => {
    const rootCertificateAuthority = gateway.certificateAuthority
    running.use(
      startControllers(singleCluster(superClient, "super", log), {
        rootCertificateAuthority,
        only: superControllers,
        log,
      }),
    )
    running.use(await work.syncer())
    running.use(work.controllers())
  }
}

/** Others share this storage: whoever leads works for all, and the rest stand by. */
export async function startAmongReplicas(work: Work, stack: AsyncDisposableStack): Promise<void> {
  const { gateway, superClient, log, metrics } = work
  const identity = `${identityOf(gateway)}-${randomUUID()}`
  const common = { client: superClient, identity, log, metrics, times: replicaTimes }
  const lead = (name: string, begin: () => Promise<AsyncDisposable>) =>
    void stack.use(Leadership.start({ ...common, name, work: begin }))
  lead(controllersLease, () => Promise.resolve(work.controllers()))
  lead(syncerLease, () => work.syncer())
  lead(operatorLease, () => work.operator())
  await untilServed(superClient)
}

/** The tenants are this process's alone; the super cluster may have others that work on it, of which one does. */
export async function startAlone(work: Work, stack: AsyncDisposableStack): Promise<void> {
  const { gateway, superClient, log, metrics } = work
  stack.use(work.controllers())
  const common = { client: superClient, identity: identityOf(gateway), log, metrics }
  const lead = (name: string, begin: () => Promise<AsyncDisposable>) =>
    stack.use(Leadership.start({ ...common, name, work: begin })).whenWorking(leaderTimeoutMs)
  await lead(syncerLease, () => work.syncer())
  await lead(operatorLease, () => work.operator())
}

/** Whoever leads sees to it that tenants can be asked for: one that was here before has done so already. */
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
  throw new UserError(`nobody serves VirtualClusters in the super cluster: who holds its Lease ${operatorLease}?`)
}

/** The same after a restart with the same data directory. */
function identityOf({ certificateAuthority }: RunningGateway): string {
  return `${hostname()}-${createHash("sha256").update(certificateAuthority).digest("hex").slice(0, 12)}`
}
