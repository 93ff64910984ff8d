// Renews the Leases of virtual nodes in kube-node-lease, for tenants that run their own controller manager: it considers a node dead
// if its Lease is not renewed. Other tenants do not need Leases: node health is determined in the super cluster, and the Ready
// condition is copied. Leases are renewed while that condition is known, with a kubelet's timing, and the tenant is awake. That is no use of
// it: who watches Leases keeps it awake (gateway/endpoints/node-leases.ts), and otherwise nobody misses renewals.

import { microTimestamp, type KubeObject, type Node } from "../apimachinery/object.ts"
import { isNotFound } from "../apimachinery/status.ts"
import { virtualNodeLabel } from "../apimachinery/tenancy.ts"
import { pause, type Clock } from "../client/clock.ts"
import { failureFields, type Log } from "../client/log.ts"
import { leases } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant, Tenants } from "../client/tenants.ts"
import { FairQueue } from "../client/workqueue/fair-queue.ts"
import { runWorkers } from "../client/workqueue/workers.ts"

interface NodeLeaseOptions {
  tenants: Tenants
  /** The known nodes of a tenant; none while it is asleep. */
  nodesOf: (tenant: string) => readonly Node[]
  clock: Clock
  log: Log
}

const namespace = "kube-node-lease"
const durationSeconds = 40
const renewMs = 10_000
/** Limits of concurrent renewals, in total and per tenant: a tenant with a hanging API (because of its webhooks) must not delay others. */
const atOnce = 32
const atOnceOfTenant = 4

interface Renewal {
  tenant: Tenant
  node: Node
}

/** Runs until the signal ends. */
export async function keepNodeLeases(options: NodeLeaseOptions, signal: AbortSignal): Promise<void> {
  const { clock, log } = options
  using queue = new FairQueue<Renewal>({
    identify: ({ tenant, node }) => `${tenant.name} ${node.metadata.name ?? ""}`,
    group: ({ tenant }) => tenant.name,
    maxWorking: atOnceOfTenant,
    clock,
  })
  const reconcile = (renewal: Renewal): Promise<void> => tryRenew(options, renewal)
  const working = runWorkers({ queue, workers: atOnce, reconcile, name: "node-leases", log, signal })
  while (!signal.aborted) {
    for (const renewal of due(options)) queue.add(renewal)
    await pause(clock, renewMs, signal)
  }
  await working
}

function* due({ tenants, nodesOf }: NodeLeaseOptions): Generator<Renewal> {
  for (const tenant of tenants.list()) {
    if (tenant.controllers) continue
    for (const node of nodesOf(tenant.name)) if (isAlive(node)) yield { tenant, node }
  }
}

/** A failed renewal is repeated in the next round. */
async function tryRenew({ tenants, clock, log }: NodeLeaseOptions, { tenant, node }: Renewal): Promise<void> {
  try {
    await renew(tenants.client(tenant, { isUse: false }), node, microTimestamp(new Date(clock.now())))
  } catch (error) {
    log.debug(
      { tenant: tenant.name, node: node.metadata.name, ...failureFields(error) },
      "node lease not renewed; retrying",
    )
  }
}

/** The Ready condition of a node that no longer reports to the super cluster is Unknown. */
function isAlive({ metadata, status }: Node): boolean {
  const ready = status?.conditions?.find(({ type }) => type === "Ready")
  return metadata.labels?.[virtualNodeLabel] === "true" && ready !== undefined && ready.status !== "Unknown"
}

async function renew(client: KubeClient, { metadata }: Node, renewTime: string): Promise<void> {
  const { name = "", uid = "" } = metadata
  const spec = { holderIdentity: name, leaseDurationSeconds: durationSeconds, renewTime }
  try {
    await client.patch<KubeObject>(leases, namespace, name, { spec }, { type: "merge" })
  } catch (error) {
    if (!isNotFound(error)) throw error
    const ownerReferences = [{ apiVersion: "v1", kind: "Node", name, uid }]
    const lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name, namespace, ownerReferences },
    }
    await client.create<KubeObject>(leases, { ...lease, spec })
  }
}
