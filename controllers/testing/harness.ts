// Runs controllers on fake clusters, one per tenant, behind one Tenants.

import type { KubeObject, Namespace, Pod } from "../../apimachinery/object.ts"
import { timestamp } from "../../apimachinery/object.ts"
import { systemClock, type Clock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { namespaces, pods, events } from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"
import { singleCluster } from "../../client/single-cluster.ts"
import { startControllers } from "../main.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"

export interface Harness extends AsyncDisposable {
  cluster: FakeCluster
  create<T extends KubeObject>(resource: Resource, object: KubeObject): Promise<T>
  /** Changes the latest version. */
  change<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    patch: object,
  ): Promise<T>
  /** Writes the status that a kubelet would report. */
  setPod(pod: Pod, phase: string, ready: boolean, ip?: string): Promise<void>
  /** Runs all pending pods. Returns their number. */
  runPods(namespace: string): Promise<number>
}

interface HarnessOptions {
  only: readonly string[]
  clock?: Clock
  cluster?: FakeCluster
  metrics?: ClientMetrics
}

/** The CA of {@link startHarness}. */
export const harnessAuthority = "-----BEGIN CERTIFICATE-----\n"

/** Expected refusals occur in many tests; unexpected errors must not. */
const log: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (fields, message) => console.error(message, fields),
}

export async function startHarness(options: HarnessOptions): Promise<Harness> {
  const clock = options.clock ?? systemClock
  const cluster = options.cluster ?? new FakeCluster({ clock })
  await cluster.create<Namespace>(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } })
  const running = startControllers(singleCluster(cluster, "tenant-a"), {
    rootCertificateAuthority: harnessAuthority,
    only: options.only,
    clock,
    log,
    metrics: options.metrics,
  })
  return createHarness(cluster, clock, running)
}

function createHarness(cluster: FakeCluster, clock: Clock, running: AsyncDisposable): Harness {
  let address = 0
  const setPod: Harness["setPod"] = async (pod, phase, ready, ip) => {
    const { namespace, name = "" } = pod.metadata
    const current = cluster.find<Pod>(pods, namespace, name)
    if (current === undefined) return
    const lastTransitionTime = timestamp(new Date(clock.now()))
    const podIP = ip ?? current.status?.podIP ?? `10.0.${Math.floor(++address / 250)}.${(address % 250) + 1}`
    const conditions = [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime }]
    // As kubelets do, which keep the fields of other writers.
    const status = { ...current.status, phase, podIP, podIPs: [{ ip: podIP }], conditions }
    await cluster.update<Pod>(pods, { ...current, status }, { subresource: "status" })
  }
  return {
    cluster,
    create: <T extends KubeObject>(resource: Resource, object: KubeObject) =>
      cluster.create(resource, object) as Promise<T>,
    change: (resource, namespace, name, patch) => cluster.patch(resource, namespace, name, patch, { type: "merge" }),
    setPod,
    async runPods(namespace) {
      const pending = cluster
        .all<Pod>(pods, namespace)
        .filter((pod) => pod.status?.phase === undefined && pod.metadata.deletionTimestamp === undefined)
      for (const pod of pending) await setPod(pod, "Running", true)
      return pending.length
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  }
}

/** Reasons and messages of the events. */
export function eventTexts({ cluster }: Harness): string[] {
  return cluster.all(events).map(({ reason, message }) => `${String(reason)}: ${String(message)}`)
}

/** Enough for a busy machine. */
const patienceMs = 60_000

/** Repeats the check after every turn of the event loop until it succeeds; fails with the last error after the timeout. */
export async function eventually(check: () => void | Promise<void>): Promise<void> {
  const end = performance.now() + patienceMs
  for (;;) {
    try {
      await check()
      return
    } catch (error) {
      if (performance.now() > end) throw error
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}
