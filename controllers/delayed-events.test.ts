// Controllers hear late of what users, nodes and they themselves change, and of one kind before the other. Once they have heard of all of it
// and nothing is left to do, others that start then have nothing to write either.

import { expect, test } from "vitest"
import type { Pod } from "../apimachinery/object.ts"
import { timestamp } from "../apimachinery/object.ts"
import { chance, createRandom, pick, type Random, seeds } from "../apimachinery/testing/random.ts"
import {
  daemonSets,
  deployments,
  namespaces,
  nodes,
  podDisruptionBudgets,
  pods,
  services,
  statefulSets,
} from "../client/resources.ts"
import type { Resource } from "../client/rest.ts"
import type { FakeCluster } from "../client/testing/fake-cluster.ts"
import { DelayedWorld } from "./testing/delayed-world.ts"

const only = ["deployment", "replicaset", "statefulset", "daemonset", "endpoints", "endpointslice", "disruption"]
const merge = { type: "merge" } as const
const apps = ["web", "db", "agent"] as const
const workloads: readonly Resource[] = [deployments, statefulSets, daemonSets]

const template = (app: string, image: string): object => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: "c", image }] },
})

async function populate(world: DelayedWorld): Promise<void> {
  await world.create(namespaces, "v1", "Namespace", "default")
  for (const name of ["a", "b"]) await world.create(nodes, "v1", "Node", name, { spec: {} })
  const of = (app: string): object => ({ selector: { matchLabels: { app } }, template: template(app, "one") })
  const rolling = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } }
  const paced = { replicas: 3, minReadySeconds: 2, progressDeadlineSeconds: 600, strategy: rolling }
  await world.create(deployments, "apps/v1", "Deployment", "web", { spec: { ...of("web"), ...paced } })
  const ordered = { replicas: 2, serviceName: "db", updateStrategy: { type: "RollingUpdate" } }
  await world.create(statefulSets, "apps/v1", "StatefulSet", "db", { spec: { ...of("db"), ...ordered } })
  const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } }
  await world.create(daemonSets, "apps/v1", "DaemonSet", "agent", { spec: { ...of("agent"), updateStrategy } })
  const ports = [{ port: 80, targetPort: 80, protocol: "TCP" }]
  for (const app of apps) {
    const spec = { selector: { app }, clusterIP: "None", ipFamilies: ["IPv4"], ports }
    await world.create(services, "v1", "Service", app, { spec })
  }
  const budget = { spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } } }
  await world.create(podDisruptionBudgets, "policy/v1", "PodDisruptionBudget", "web", budget)
}

/** What a user does, or a node reports. */
async function step(random: Random, { cluster, clock }: DelayedWorld): Promise<void> {
  const at = random(apps.length)
  const [app, resource] = [apps[at] ?? "", workloads[at] as Resource]
  const patch = (of: Resource, fields: object): Promise<unknown> => cluster.patch(of, "default", app, fields, merge)
  const all = cluster.all<Pod>(pods)
  const kind = random(10)
  // Not of a StatefulSet, which nothing tells of its revisions, as upstream: its next change puts them in order.
  if (kind === 0 && app !== "db") {
    await patch(resource, { spec: { template: template(app, pick(random, ["one", "two"])) } })
  } else if (kind === 1 && app !== "agent") await patch(resource, { spec: { replicas: random(4) } })
  else if (kind === 2) await patch(services, { spec: { selector: { app: pick(random, apps) } } })
  else if (kind === 3 && all.length > 0) cluster.remove(pods, "default", pick(random, all).metadata.name ?? "")
  else if (all.length > 0) report(random, cluster, pick(random, all), timestamp(new Date(clock.now())))
}

function report(random: Random, cluster: FakeCluster, pod: Pod, at: string): void {
  const { name = "" } = pod.metadata
  const phase = chance(random, 0.1) ? "Failed" : "Running"
  const status = phase === "Running" && chance(random, 0.7) ? "True" : "False"
  const podIP = pod.status?.podIP ?? `10.1.0.${1 + random(200)}`
  const conditions = [{ type: "Ready", status, lastTransitionTime: at }]
  // Those of a DaemonSet name theirs.
  const nodeName = pod.spec?.nodeName ?? (JSON.stringify(pod.spec?.affinity ?? {}).includes('"b"') ? "b" : "a")
  cluster.edit(pods, "default", name, {
    spec: { nodeName },
    status: { phase, podIP, podIPs: [{ ip: podIP }], conditions },
  })
}

/** After each, all comes to rest. */
const phases = 12
const steps = 12
/** Nothing is left to do after this time. */
const restSeconds = 900

test.each(seeds(Number(process.env["ROUNDS"] ?? 6)))("a restart has nothing to write (seed %i)", async (seed) => {
  const random = createRandom(seed)
  await using world = new DelayedWorld(random, only)
  await populate(world)
  await world.start()
  for (let phase = 0; phase < phases; phase++) {
    for (let count = 0; count < steps; count++) {
      await step(random, world)
      await world.turns(random(6))
      if (chance(random, 0.1)) world.clock.advance(pick(random, [10, 500, 1_000]))
    }
    await world.rest(restSeconds)
    const before = world.cluster.writes.length
    await world.start()
    await world.rest(restSeconds)
    expect(world.cluster.writes.slice(before).filter((write) => !write.includes(" events "))).toEqual([])
  }
})
