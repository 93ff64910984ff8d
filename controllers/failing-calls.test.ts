// Calls of controllers fail at random: some are refused, others are done but not answered; controllers hear late of changes, and are
// interrupted. Once that ends, all is done that is left to do without that anything else happens: others that start then have nothing to write.

import { expect, test } from "vitest"
import { timestamp, type Job, type Node } from "../apimachinery/object.ts"
import { virtualNodeLabel } from "../apimachinery/tenancy.ts"
import { chance, createRandom, pick, seeds } from "../apimachinery/testing/random.ts"
import {
  cronJobs,
  daemonSets,
  deployments,
  jobs,
  leases,
  namespaces,
  nodes,
  persistentVolumes,
  podDisruptionBudgets,
  replicationControllers,
  resourceClaimTemplates,
  resourceQuotas,
  serviceCIDRs,
  services,
  statefulSets,
} from "../client/resources.ts"
import { DelayedWorld } from "./testing/delayed-world.ts"
import { Interruptions } from "./testing/interruptions.ts"
import { jobSpec, ownNode, playKubelets, RandomUse, template } from "./testing/random-use.ts"

const only = [
  ["namespace", "serviceaccount", "serviceaccount-token", "root-ca-certificate-publisher", "resourcequota"],
  ["deployment", "replicaset", "statefulset", "daemonset", "job", "cronjob", "ttl-after-finished", "disruption"],
  ["node-lifecycle", "taint-eviction", "pod-garbage-collector", "endpoints", "endpointslice"],
  ["replicationcontroller", "endpointslice-mirroring", "service-cidr", "ip-address"],
  ["ephemeral-volume", "resource-claim", "persistentvolume-binder"],
  ["persistentvolumeclaim-protection", "persistentvolume-protection", "garbage-collector"],
].flat()

const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, storageClassName: "" }

async function populate(world: DelayedWorld): Promise<void> {
  for (const name of ["default", "kube-node-lease"]) await world.create(namespaces, "v1", "Namespace", name)
  await addNodes(world)
  await addWorkloads(world)
  await addJobs(world)
  await addOthers(world)
  const hostPath = { path: "/tmp/x" }
  const capacity = { storage: "1Gi" }
  for (const index of [0, 1, 2, 3, 4, 5]) {
    const spec = { capacity, accessModes: ["ReadWriteOnce"], persistentVolumeReclaimPolicy: "Retain", hostPath }
    await world.create(persistentVolumes, "v1", "PersistentVolume", `volume-${index}`, { spec })
  }
  const hard = { pods: "50", "count/jobs.batch": "50" }
  await world.create(resourceQuotas, "v1", "ResourceQuota", "all", { spec: { hard } })
}

async function addNodes(world: DelayedWorld): Promise<void> {
  const metadata = { labels: { [virtualNodeLabel]: "true" } }
  for (const name of ["a", "b"]) await world.create(nodes, "v1", "Node", name, { metadata, spec: {} })
  const now = new Date(world.clock.now())
  const times = { lastHeartbeatTime: timestamp(now), lastTransitionTime: timestamp(now) }
  const status = { conditions: [{ type: "Ready", status: "True", ...times }] }
  await world.create(nodes, "v1", "Node", ownNode, { spec: {}, status })
  const lease = { metadata: { namespace: "kube-node-lease" }, spec: { renewTime: now.toISOString() } }
  await world.create(leases, "coordination.k8s.io/v1", "Lease", ownNode, lease)
}

async function addWorkloads(world: DelayedWorld): Promise<void> {
  const of = (app: string, spec: object = {}): object => ({
    selector: { matchLabels: { app } },
    template: template(app, spec),
    revisionHistoryLimit: 2,
  })
  const rolling = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } }
  const paced = { replicas: 3, minReadySeconds: 2, progressDeadlineSeconds: 600, strategy: rolling }
  const claims = {
    volumes: [{ name: "scratch", ephemeral: { volumeClaimTemplate: { spec: claimSpec } } }],
    resourceClaims: [{ name: "device", resourceClaimTemplateName: "device" }],
  }
  const devices = { spec: { spec: { devices: {} } } }
  await world.create(resourceClaimTemplates, "resource.k8s.io/v1", "ResourceClaimTemplate", "device", devices)
  await world.create(deployments, "apps/v1", "Deployment", "web", { spec: { ...of("web", claims), ...paced } })
  const ordered = {
    replicas: 2,
    serviceName: "db",
    updateStrategy: { type: "RollingUpdate" },
    volumeClaimTemplates: [{ metadata: { name: "data" }, spec: claimSpec }],
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Delete" },
  }
  await world.create(statefulSets, "apps/v1", "StatefulSet", "db", { spec: { ...of("db"), ...ordered } })
  const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } }
  await world.create(daemonSets, "apps/v1", "DaemonSet", "agent", { spec: { ...of("agent"), updateStrategy } })
  const ports = [{ port: 80, targetPort: 80, protocol: "TCP" }]
  for (const app of ["web", "db", "agent"]) {
    const spec = { selector: { app }, clusterIP: "None", ipFamilies: ["IPv4"], ports }
    await world.create(services, "v1", "Service", app, { spec })
    const budget = { spec: { minAvailable: 1, selector: { matchLabels: { app } } } }
    await world.create(podDisruptionBudgets, "policy/v1", "PodDisruptionBudget", app, budget)
  }
}

/** What is mirrored, has addresses, or is an older kind. */
async function addOthers(world: DelayedWorld): Promise<void> {
  const range = { spec: { cidrs: ["10.96.0.0/16"] } }
  await world.create(serviceCIDRs, "networking.k8s.io/v1", "ServiceCIDR", "kubernetes", range)
  const ports = [{ port: 80, targetPort: 80, protocol: "TCP" }]
  await world.create(services, "v1", "Service", "mirrored", {
    spec: { clusterIP: "None", ipFamilies: ["IPv4"], ports },
  })
  const selector = { app: "old" }
  const spec = { replicas: 2, selector, template: template("old") }
  await world.create(replicationControllers, "v1", "ReplicationController", "old", { spec })
}

async function addJobs(world: DelayedWorld): Promise<void> {
  const work = { completions: 4, parallelism: 2 }
  await world.create(jobs, "batch/v1", "Job", "work", { spec: jobSpec("work", work) })
  const indexed = jobSpec("indexed", { ...work, completionMode: "Indexed" })
  await world.create(jobs, "batch/v1", "Job", "indexed", { spec: indexed })
  const jobTemplate = { spec: jobSpec("tick", { completions: 1, parallelism: 1 }) }
  const limits = { successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 }
  const spec = { schedule: "* * * * *", concurrencyPolicy: "Forbid", ...limits, jobTemplate }
  await world.create(cronJobs, "batch/v1", "CronJob", "tick", { spec })
}

/** Names of Jobs that should have ended. */
const unfinished = ({ cluster }: DelayedWorld): (string | undefined)[] =>
  cluster
    .all<Job>(jobs)
    .filter(({ spec }) => spec?.suspend !== true && spec?.parallelism !== 0)
    .filter(({ status: { conditions = [], succeeded = 0, active = 0 } = {}, spec }) => {
      const isOver = conditions.some(({ type, status }) => status === "True" && type === "Complete")
      return !isOver || active > 0 || succeeded < (spec?.completions ?? 0)
    })
    .map(({ metadata }) => metadata.name)

/** As upstream, a DaemonSet does not hear of a taint for which it has no pod to delete, and counts the node otherwise only at its next event. */
function isWritten({ cluster }: DelayedWorld, write: string): boolean {
  const isTainted = cluster.all<Node>(nodes).some(({ spec }) => (spec?.taints ?? []).length > 0)
  if (isTainted && write === "update daemonsets default/agent/status") return false
  return !write.includes(" events ")
}

/** After each, all comes to rest. */
const phases = 4
const steps = 25

const rounds = [0, 0.3].flatMap((often) => seeds(Number(process.env["ROUNDS"] ?? 5)).map((seed) => ({ seed, often })))

test.each(rounds)("a restart has nothing to write (seed $seed, interrupted with chance $often)", async (round) => {
  const random = createRandom(round.seed)
  await using world = new DelayedWorld(random, only)
  const use = new RandomUse(world)
  const interruptions = new Interruptions(world)
  const play = (): void => {
    playKubelets(world)
    use.beat()
  }
  const suspend = (isSuspended: boolean): Promise<unknown> =>
    world.cluster.patch(cronJobs, "default", "tick", { spec: { suspend: isSuspended } }, { type: "merge" })
  await populate(world)
  await world.start()
  for (let phase = 0; phase < phases; phase++) {
    // Not as often that controllers give up.
    world.faults.probability = pick(random, [0, 0.05, 0.1, 0.2])
    for (let count = 0; count < steps; count++) {
      await use.step()
      await world.turns(random(12))
      if (chance(random, round.often)) await interruptions.step()
      use.beat()
      if (chance(random, 0.2)) world.clock.advance(pick(random, [10, 500, 1_000, 20_000]))
    }
    interruptions.end()
    await world.rest(30, play)
    world.faults.probability = 0
    // It deletes its old Jobs when it is due, and starts no other then.
    await suspend(false)
    await world.rest(90, play)
    await suspend(true)
    await world.rest(1_500, play)
    expect(unfinished(world)).toEqual([])
    const before = world.cluster.writes.length
    await world.start()
    await world.rest(900, () => use.beat())
    expect(world.cluster.writes.slice(before).filter((write) => isWritten(world, write))).toEqual([])
  }
})
