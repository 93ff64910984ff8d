// What users, nodes and kubelets do with objects of many kinds, by chance.

import { timestamp, type Job, type KubeObject, type Node, type Pod } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { chance, pick } from "../../apimachinery/testing/random.ts"
import {
  configMaps,
  cronJobs,
  daemonSets,
  deployments,
  endpoints,
  jobs,
  leases,
  namespaces,
  nodes,
  persistentVolumeClaims,
  pods,
  secrets,
  serviceAccounts,
  serviceCIDRs,
  services,
  statefulSets,
} from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"
import type { DelayedWorld } from "./delayed-world.ts"

export const ownNode = "own"
const merge = { type: "merge" } as const
const apps = ["web", "db", "agent"] as const
const policies = ["Background", "Foreground", "Orphan"] as const
/** Of those that are there at the same time. */
const mostJobs = 12

export const template = (app: string, spec: object = {}, labels: object = {}): object => ({
  metadata: { labels: { app, ...labels } },
  spec: { containers: [{ name: "c", image: "one" }], ...spec },
})

export const jobSpec = (name: string, spec: object): object => ({
  backoffLimit: 6,
  selector: { matchLabels: { job: name } },
  template: template(name, { restartPolicy: "Never" }, { job: name }),
  ...spec,
})

/** Pods run, and those of Jobs succeed. */
export function playKubelets({ cluster, clock }: DelayedWorld): void {
  for (const pod of cluster.all<Pod>(pods)) {
    const { namespace, name = "", labels, deletionTimestamp } = pod.metadata
    if (deletionTimestamp !== undefined || pod.status?.phase !== undefined) continue
    const affine = /"(b|own)"/.exec(JSON.stringify(pod.spec?.affinity ?? {}))?.[1] ?? "a"
    const nodeName = pod.spec?.nodeName ?? affine
    if (cluster.find(nodes, undefined, nodeName) === undefined) continue
    const isWork = labels?.["job"] !== undefined
    const lastTransitionTime = timestamp(new Date(clock.now()))
    const conditions = isWork ? [] : [{ type: "Ready", status: "True", lastTransitionTime }]
    const status = { phase: isWork ? "Succeeded" : "Running", podIP: "10.1.1.1", podIPs: [{ ip: "10.1.1.1" }] }
    cluster.edit(pods, namespace, name, { spec: { nodeName }, status: { ...status, conditions } })
  }
}

export class RandomUse {
  readonly #world: DelayedWorld
  #serial = 0
  #isSilent = false

  constructor(world: DelayedWorld) {
    this.#world = world
  }

  /** One of them. */
  async step(): Promise<void> {
    const steps: readonly (() => unknown)[] = [
      () => this.#changeTemplate(),
      () => this.#scale(),
      () => this.#patch(services, pick(this.#random, apps), { selector: { app: pick(this.#random, apps) } }),
      () => this.#deleteOne(pods, "default"),
      () => this.#useNamespace(),
      () => this.#createJob(),
      () => this.#changeJob(),
      () => this.#patch(cronJobs, "tick", { suspend: chance(this.#random, 0.5) }),
      () => this.#createFamily(),
      () => this.#deleteOne(configMaps, "default", ({ metadata }) => /^family-\d+$/.test(metadata.name ?? "")),
      () => this.#silence(),
      () => this.#failPod(),
      () => this.#bindPod(),
      () => this.#useAccount(),
      () => this.#deleteOne(persistentVolumeClaims, "default", ({ metadata }) => metadata.name?.startsWith("web")),
      () => this.#taint(),
      () => this.#useMirrored(),
      () => this.#useAddress(),
      () => this.#useRange(),
      () => playKubelets(this.#world),
      () => playKubelets(this.#world),
    ]
    try {
      await pick(this.#random, steps)()
    } catch (error) {
      // A controller has deleted it in the meantime.
      if (!isNotFound(error)) throw error
    }
  }

  /** The kubelet of the tenant's own node renews its lease, unless it is silent. */
  beat(): void {
    const { cluster, clock } = this.#world
    if (this.#isSilent) return
    const now = new Date(clock.now())
    cluster.edit(leases, "kube-node-lease", ownNode, { spec: { renewTime: now.toISOString() } })
    const { status } = cluster.find<Node>(nodes, undefined, ownNode)!
    if (status?.conditions?.[0]?.status === "True") return
    const times = { lastHeartbeatTime: timestamp(now), lastTransitionTime: timestamp(now) }
    const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady", ...times }]
    cluster.edit(nodes, undefined, ownNode, { status: { conditions } })
  }

  get #random(): DelayedWorld["random"] {
    return this.#world.random
  }

  async #patch(resource: Resource, name: string, spec: object): Promise<void> {
    await this.#world.cluster.patch(resource, "default", name, { spec }, merge)
  }

  async #changeTemplate(): Promise<void> {
    // Not of a StatefulSet, which nothing tells of its revisions, as upstream: its next change puts them in order.
    const [resource, name] = pick(this.#random, [[deployments, "web"] as const, [daemonSets, "agent"] as const])
    const image = pick(this.#random, ["one", "two", "three", "four"])
    await this.#patch(resource, name, { template: { spec: { containers: [{ name: "c", image }] } } })
  }

  async #scale(): Promise<void> {
    const [resource, name] = pick(this.#random, [[deployments, "web"] as const, [statefulSets, "db"] as const])
    await this.#patch(resource, name, { replicas: this.#random(4) })
  }

  async #deleteOne<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    isMeant: (object: T) => boolean | undefined = () => true,
  ): Promise<void> {
    const { cluster } = this.#world
    const meant = cluster.all<T>(resource, namespace).filter((object) => isMeant(object) === true)
    if (meant.length === 0) return
    const propagationPolicy = resource === pods ? "Background" : pick(this.#random, policies)
    await cluster.delete(resource, namespace, pick(this.#random, meant).metadata.name ?? "", { propagationPolicy })
  }

  async #useNamespace(): Promise<void> {
    const { cluster } = this.#world
    const name = pick(this.#random, ["x", "y"])
    const found = cluster.find(namespaces, undefined, name)
    if (found?.metadata.deletionTimestamp !== undefined) return
    if (found !== undefined) return cluster.delete(namespaces, undefined, name)
    await this.#world.create(namespaces, "v1", "Namespace", name)
    await this.#world.create(configMaps, "v1", "ConfigMap", "c", { metadata: { namespace: name } })
    await this.#world.create(secrets, "v1", "Secret", "s", { metadata: { namespace: name }, type: "Opaque" })
  }

  async #createJob(): Promise<void> {
    const random = this.#random
    if (this.#world.cluster.all(jobs).length >= mostJobs) return
    const name = `job-${this.#serial++}`
    const mode = chance(random, 0.5) ? { completionMode: "Indexed" } : {}
    const ttl = chance(random, 0.5) ? { ttlSecondsAfterFinished: random(30) } : {}
    const spec = jobSpec(name, { completions: 1 + random(4), parallelism: 1 + random(3), ...mode, ...ttl })
    await this.#world.create(jobs, "batch/v1", "Job", name, { spec })
  }

  async #changeJob(): Promise<void> {
    const own = this.#world.cluster.all<Job>(jobs).filter(({ metadata }) => metadata.ownerReferences === undefined)
    const [job] = own.length === 0 ? [] : [pick(this.#random, own)]
    if (job === undefined) return
    const { name = "" } = job.metadata
    const kind = this.#random(3)
    if (kind === 0) await this.#patch(jobs, name, { suspend: job.spec?.suspend !== true })
    else if (kind === 1) await this.#patch(jobs, name, { parallelism: this.#random(4) })
    else await this.#deleteOne(jobs, "default", ({ metadata }) => metadata.name === name)
  }

  /** An owner with dependents. */
  async #createFamily(): Promise<void> {
    const name = `family-${this.#serial++}`
    await this.#world.create(configMaps, "v1", "ConfigMap", name)
    const { uid } = this.#world.cluster.find(configMaps, "default", name)!.metadata
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name, uid, blockOwnerDeletion: true }]
    for (const child of ["a", "b", "c"]) {
      const metadata = { namespace: "default", ownerReferences }
      await this.#world.create(configMaps, "v1", "ConfigMap", `${name}-${child}`, { metadata })
    }
  }

  #silence(): void {
    if (chance(this.#random, 0.5)) this.#isSilent = !this.#isSilent
  }

  #failPod(): void {
    const { cluster } = this.#world
    const running = cluster.all<Pod>(pods, "default").filter(({ status }) => status?.phase === "Running")
    if (running.length === 0) return
    const status = { phase: "Failed", conditions: [] }
    cluster.edit(pods, "default", pick(this.#random, running).metadata.name ?? "", { status })
  }

  /** To the node that may become silent. */
  #bindPod(): void {
    const { cluster } = this.#world
    const waiting = cluster.all<Pod>(pods, "default").filter(({ spec }) => spec?.nodeName === undefined)
    if (waiting.length === 0) return
    cluster.edit(pods, "default", pick(this.#random, waiting).metadata.name ?? "", { spec: { nodeName: ownNode } })
  }

  async #useAccount(): Promise<void> {
    const name = pick(this.#random, ["one", "two"])
    if (this.#world.cluster.find(serviceAccounts, "default", name) !== undefined) {
      return this.#deleteOne(serviceAccounts, "default", ({ metadata }) => metadata.name === name)
    }
    await this.#world.create(serviceAccounts, "v1", "ServiceAccount", name)
    const annotations = { "kubernetes.io/service-account.name": name }
    await this.#world.create(secrets, "v1", "Secret", `${name}-${this.#serial++}`, {
      metadata: { namespace: "default", annotations },
      type: "kubernetes.io/service-account-token",
    })
  }

  /** Endpoints of a Service without a selector. */
  async #useMirrored(): Promise<void> {
    const { cluster } = this.#world
    if (cluster.find(endpoints, "default", "mirrored") !== undefined && chance(this.#random, 0.2)) {
      return cluster.delete(endpoints, "default", "mirrored")
    }
    const addresses = [1, 2, 3].slice(this.#random(3)).map((last) => ({ ip: `10.2.0.${last}` }))
    const subsets = [{ addresses, ports: [{ port: 80, protocol: "TCP" }] }]
    if (cluster.find(endpoints, "default", "mirrored") !== undefined)
      cluster.edit(endpoints, "default", "mirrored", { subsets })
    else await this.#world.create(endpoints, "v1", "Endpoints", "mirrored", { subsets })
  }

  async #useAddress(): Promise<void> {
    const name = pick(this.#random, ["first", "second"])
    if (this.#world.cluster.find(services, "default", name) !== undefined) {
      return this.#world.cluster.delete(services, "default", name)
    }
    const clusterIP = `10.96.0.${2 + this.#random(3)}`
    const spec = { clusterIP, clusterIPs: [clusterIP], ipFamilies: ["IPv4"], ports: [{ port: 80, protocol: "TCP" }] }
    await this.#world.create(services, "v1", "Service", name, { spec })
  }

  async #useRange(): Promise<void> {
    const { cluster } = this.#world
    if (cluster.find(serviceCIDRs, undefined, "more") === undefined) {
      const spec = { cidrs: ["10.96.0.0/30"] }
      await this.#world.create(serviceCIDRs, "networking.k8s.io/v1", "ServiceCIDR", "more", { spec })
    } else await cluster.delete(serviceCIDRs, undefined, "more")
  }

  #taint(): void {
    const taints = chance(this.#random, 0.5) ? [{ key: "k", value: "v", effect: "NoExecute" }] : null
    this.#world.cluster.edit(nodes, undefined, "b", { spec: { taints } })
  }
}
