// The operator creates tenants in the gateway from VirtualCluster and ClusterVersion objects in the super cluster. It runs in the process
// of the gateway or alone, and waits until the super cluster is available.

import type { KubeObject } from "../apimachinery/object.ts"
import { isNotFound } from "../apimachinery/status.ts"
import { adoptAnnotation } from "../apimachinery/tenancy.ts"
import { endsWithin, pause, systemClock, type Clock } from "../client/clock.ts"
import { EventRecorder } from "../client/events.ts"
import { Informer } from "../client/informers/informer.ts"
import { failureFields, silentLog, type Log } from "../client/log.ts"
import { clusterVersions, virtualClusters } from "../client/resources.ts"
import type { Tenant } from "../client/tenants.ts"
import { FairQueue } from "../client/workqueue/fair-queue.ts"
import { runWorkers } from "../client/workqueue/workers.ts"
import { ensureCustomResourceDefinitions, ensureDefaultClusterVersion, longer } from "./custom-resource-definitions.ts"
import { followKubeconfigs } from "./kubeconfigs.ts"
import { PhaseMetrics } from "./metrics.ts"
import { operatorLimits, type OperatorOptions } from "./options.ts"
import { defaultClusterVersion, type VirtualCluster } from "./types.ts"
import { VirtualClusterReconciler } from "./virtual-cluster.ts"

export type { OperatorOptions } from "./options.ts"
export type { VirtualCluster, VirtualClusterStatus } from "./types.ts"
export { defaultClusterVersion } from "./types.ts"

interface Key {
  namespace: string
  name: string
  /** From the initial list: there may be thousands, and those that are created meanwhile take turns with all of them together. */
  isInitial?: boolean
}

const byName = "name"

/** Resolves when started; Operator.whenReady() resolves when VirtualClusters are served and reconciled. */
export function startOperator(options: OperatorOptions): Promise<Operator> {
  return Promise.resolve(new Operator(options))
}

export class Operator implements AsyncDisposable {
  readonly #options: OperatorOptions
  readonly #clock: Clock
  readonly #log: Log
  readonly #stopping = new AbortController()
  readonly #queue: FairQueue<Key>
  readonly #virtualClusters: Informer<VirtualCluster>
  readonly #versions: Informer<KubeObject>
  readonly #recorder: EventRecorder
  readonly #reconciler: VirtualClusterReconciler
  readonly #stops: (() => void)[] = []
  readonly #served = Promise.withResolvers<void>()
  #restoring: Promise<void> | undefined
  readonly #ready: Promise<void>
  readonly #running: Promise<unknown>

  constructor(options: OperatorOptions) {
    const { superClient, tenants, clock = systemClock, log = silentLog, metrics } = options
    this.#options = options
    this.#clock = clock
    this.#log = log
    this.#queue = new FairQueue<Key>({
      identify: ({ namespace, name }) => `${namespace}/${name}`,
      group: ({ namespace, isInitial }) => (isInitial ? "" : namespace),
      clock,
      metrics: metrics?.queue("operator"),
    })
    const failed = (error: unknown): void => this.#noteFailure(error)
    const indexes = { [byName]: ({ metadata: { name = "" } }: VirtualCluster) => [name] }
    this.#virtualClusters = new Informer(superClient, virtualClusters, { indexes, clock, log, failed })
    this.#versions = new Informer(superClient, clusterVersions, { clock, log, failed })
    metrics?.of("operator", () => new PhaseMetrics()).follow(() => this.#virtualClusters.list())
    this.#recorder = new EventRecorder({ component: "polyplane-operator", clock, log })
    const hasVersion = (name: string): boolean => this.#versions.get(undefined, name) !== undefined
    this.#reconciler = new VirtualClusterReconciler({ superClient, tenants, events: this.#recorder, clock, hasVersion })
    this.#ready = this.#prepare()
    this.#running = Promise.all([this.#run(), this.#watchFaults(), this.#watchKubeconfigs()])
    this.#running.catch((error: unknown) => log.error({ err: error }, "operator stopped"))
  }

  /** Resolves when the resources are served, so that VirtualClusters can be created, or when the operator stops. */
  whenServed(): Promise<void> {
    return this.#served.promise
  }

  /** Resolves when the resources are served and all VirtualClusters have been seen, or the operator stops. */
  whenReady(): Promise<void> {
    return this.#ready
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    for (const stop of this.#stops) stop()
    await endsWithin(this.#clock, operatorLimits.stopTimeoutMs, Promise.all([this.#running, this.#restoring]))
    this.#queue[Symbol.dispose]()
    await this.#recorder.drained()
  }

  /** Logs once that the super cluster is unavailable, and once that it is available again. */
  async #prepare(): Promise<void> {
    const { signal } = this.#stopping
    const { superClient } = this.#options
    let failed = false
    for (let wait: number = operatorLimits.firstBackoffMs; !signal.aborted; wait = longer(wait)) {
      try {
        await ensureCustomResourceDefinitions(superClient, { signal, clock: this.#clock })
        if (failed) this.#log.info({}, "the super cluster serves VirtualClusters now")
        break
      } catch (error) {
        if (!failed)
          this.#log.warn(failureFields(error), "the super cluster does not serve VirtualClusters yet; retrying")
        failed = true
      }
      await pause(this.#clock, wait, signal)
    }
    this.#served.resolve()
    if (!signal.aborted) await this.#watch(signal)
  }

  /** They are served no more: somebody has removed the definitions, or the super cluster is another one. */
  #noteFailure(error: unknown): void {
    if (!isNotFound(error) || this.#restoring !== undefined) return
    const { signal } = this.#stopping
    this.#log.warn({}, "the super cluster does not serve VirtualClusters any more; defining them again")
    this.#restoring = ensureCustomResourceDefinitions(this.#options.superClient, { signal, clock: this.#clock })
      .catch((failure: unknown) =>
        this.#log.warn(failureFields(failure), "VirtualClusters cannot be defined; retrying"),
      )
      .finally(() => (this.#restoring = undefined))
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { tenants } = this.#options
    const enqueue = ({ metadata: { namespace = "", name = "" } }: VirtualCluster): void =>
      this.#queue.add({ namespace, name, isInitial: !this.#virtualClusters.synced })
    const enqueueAll = (): void => this.#virtualClusters.list().forEach(enqueue)
    this.#stops.push(
      this.#virtualClusters.subscribe({
        added: enqueue,
        updated: enqueue,
        // Usually deleted after its tenant, unless somebody has removed the finalizer.
        deleted: ({ metadata }) => {
          const tenant = tenants.get(metadata.name ?? "")
          if (tenant !== undefined && tenant.virtualCluster.uid === metadata.uid) this.#warnOrphan(tenant)
        },
      }),
    )
    this.#stops.push(
      this.#versions.subscribe({
        // VirtualClusters may be waiting for it.
        added: enqueueAll,
        deleted: ({ metadata }) => {
          if (metadata.name === defaultClusterVersion) this.#restoreDefaultVersion()
        },
      }),
      this.#reconciler.follow(),
      // Its name has become available.
      tenants.subscribe({ removed: ({ name }) => this.#virtualClusters.byIndex(byName, name).forEach(enqueue) }),
    )
    await Promise.all([this.#virtualClusters.start(signal), this.#versions.start(signal)])
    // An operator that stops before the initial list does not know which tenants have a VirtualCluster.
    if (!this.#virtualClusters.synced) return
    for (const tenant of this.#reconciler.orphans(this.#virtualClusters.list())) this.#warnOrphan(tenant)
  }

  /** The gateway notices damage while it works; this asks for it at intervals. Logs once that there is no answer. */
  async #watchFaults(): Promise<void> {
    const { signal } = this.#stopping
    await this.#ready
    for (let failed = false; !signal.aborted; await pause(this.#clock, operatorLimits.faultsMs, signal)) {
      try {
        const faults = await this.#options.tenants.faults()
        for (const { namespace, name } of this.#reconciler.noteFaults(faults)) this.#queue.add({ namespace, name })
        failed = false
      } catch (error) {
        const message = "the gateway does not say which tenants it cannot serve; retrying"
        if (!failed) this.#log.warn(failureFields(error), message)
        failed = true
      }
    }
  }

  async #watchKubeconfigs(): Promise<void> {
    await this.#ready
    await followKubeconfigs({
      superClient: this.#options.superClient,
      expected: () => this.#options.tenants.list().map(({ clusterKey }) => clusterKey),
      removed: (namespace) => {
        const owner = this.#reconciler.kubeconfigRemoved(namespace)
        if (owner !== undefined) this.#queue.add({ namespace: owner.namespace, name: owner.name })
      },
      clock: this.#clock,
      log: this.#log,
      signal: this.#stopping.signal,
    })
  }

  /**
   * Nothing that happens in the super cluster deletes a tenant: one that has lost its VirtualCluster is still served, and a
   * warning is logged.
   */
  #warnOrphan({ name, virtualCluster }: Tenant): void {
    this.#log.warn(
      { tenant: name, virtualCluster },
      `the tenant's VirtualCluster was deleted: create one of the same name with the annotation ${adoptAnnotation}=${virtualCluster.uid} to adopt or delete the tenant`,
    )
  }

  #restoreDefaultVersion(): void {
    ensureDefaultClusterVersion(this.#options.superClient).catch((error: unknown) =>
      this.#log.error({ err: error }, "the default ClusterVersion was deleted and could not be recreated"),
    )
  }

  async #run(): Promise<void> {
    await this.#ready
    await runWorkers<Key>({
      queue: this.#queue,
      workers: operatorLimits.workers,
      name: "operator",
      log: this.#log,
      signal: this.#stopping.signal,
      reconcile: async ({ namespace, name }) => {
        const virtualCluster = this.#virtualClusters.get(namespace, name)
        return virtualCluster === undefined ? undefined : this.#reconciler.reconcile(virtualCluster)
      },
    })
  }
}
