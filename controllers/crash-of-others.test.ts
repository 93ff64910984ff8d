// As crash.test.ts, of controllers whose objects depend on each other's: daemons, volumes and claims, endpoints, budgets.

import { expect, test } from "vitest"
import type {
  EndpointSlice,
  Endpoints,
  KubeObject,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../apimachinery/object.ts"
import { createRandom, seeds } from "../apimachinery/testing/random.ts"
import { silentLog } from "../client/log.ts"
import {
  configMaps,
  daemonSets,
  endpoints,
  endpointSlices,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  replicationControllers,
  serviceAccounts,
  services,
  statefulSets,
} from "../client/resources.ts"
import type { KubeClient, Resource } from "../client/rest.ts"
import { singleCluster } from "../client/single-cluster.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { startControllers } from "./main.ts"
import { liveAndCrash } from "./testing/crashing.ts"
import { eventually } from "./testing/harness.ts"

const only = [
  "daemonset",
  "disruption",
  "endpoints",
  "endpointslice",
  "endpointslice-mirroring",
  "ephemeral-volume",
  "garbage-collector",
  "node-lifecycle",
  "persistentvolume-binder",
  "persistentvolume-protection",
  "persistentvolumeclaim-protection",
  "pod-garbage-collector",
  "replicationcontroller",
  "root-ca-certificate-publisher",
  "serviceaccount",
  "statefulset",
  "taint-eviction",
]
/** The end state is one that has not changed for so many turns. */
const stillTurns = 60

const labels = (app: string): Record<string, string> => ({ app, all: "x" })
const template = (app: string, image = "one", volumes: object[] = []): object => ({
  metadata: { labels: labels(app) },
  spec: { containers: [{ name: "c", image }], volumes },
})
const claimSpec = { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage: "1Gi" } } }
const scratch = { name: "v", ephemeral: { volumeClaimTemplate: { spec: claimSpec } } }
const ports = [{ name: "a", port: 80, protocol: "TCP" }]
const subset = (port: number, ...ips: string[]): object => ({
  addresses: ips.map((ip) => ({ ip })),
  ports: [{ name: "a", port }],
})

async function begin(cluster: FakeCluster): Promise<void> {
  const make = async (of: Resource, apiVersion: string, kind: string, name: string, more: object): Promise<void> => {
    const place = of.namespaced ? { namespace: "default" } : {}
    const metadata = { name, uid: `uid-${kind}-${name}`, ...place }
    await cluster.create(of, { apiVersion, kind, metadata, ...more } as KubeObject)
  }
  await make(namespaces, "v1", "Namespace", "default", {})
  const ready = { status: { conditions: [{ type: "Ready", status: "True" }] } }
  for (const name of ["n1", "n2", "n3"]) await make(nodes, "v1", "Node", name, ready)
  for (let index = 0; index < 9; index++) {
    const { accessModes, storageClassName } = claimSpec
    const spec = { accessModes, storageClassName, capacity: { storage: "1Gi" }, nfs: { server: "s", path: "/" } }
    await make(persistentVolumes, "v1", "PersistentVolume", `pv${index}`, {
      spec: { ...spec, persistentVolumeReclaimPolicy: "Retain" },
    })
  }
  const address = (ip: string): object => ({ clusterIP: ip, clusterIPs: [ip], ipFamilies: ["IPv4"], ports })
  await make(services, "v1", "Service", "web", { spec: { ...address("10.1.0.1"), selector: { all: "x" } } })
  await make(services, "v1", "Service", "by-hand", { spec: address("10.1.0.2") })
  await make(endpoints, "v1", "Endpoints", "by-hand", { subsets: [subset(80, "192.0.2.1")] })
  const selector = { matchLabels: { all: "x" } }
  await make(podDisruptionBudgets, "policy/v1", "PodDisruptionBudget", "web", { spec: { minAvailable: 2, selector } })
  await make(daemonSets, "apps/v1", "DaemonSet", "daemon", {
    spec: { selector: { matchLabels: { app: "daemon" } }, template: template("daemon"), ...daemonUpdate },
  })
  await make(replicationControllers, "v1", "ReplicationController", "replicas", {
    spec: { replicas: 3, selector: { app: "replicas" }, template: template("replicas", "one", [scratch]) },
  })
  await make(statefulSets, "apps/v1", "StatefulSet", "db", {
    spec: {
      replicas: 2,
      serviceName: "web",
      selector: { matchLabels: { app: "db" } },
      template: template("db"),
      persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete", whenDeleted: "Delete" },
      volumeClaimTemplates: [{ metadata: { name: "d" }, spec: claimSpec }],
    },
  })
}

const daemonUpdate = { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } }

async function change(cluster: FakeCluster): Promise<void> {
  const patch = (of: Resource, name: string, fields: object): Promise<unknown> =>
    cluster.patch(of, "default", name, fields, { type: "merge" })
  await patch(daemonSets, "daemon", { spec: { template: template("daemon", "two") } })
  await patch(statefulSets, "db", { spec: { replicas: 1 } })
  await patch(replicationControllers, "replicas", { spec: { replicas: 2 } })
  await patch(endpoints, "by-hand", { subsets: [subset(81, "192.0.2.2", "192.0.2.3")] })
}

let addresses = 0

/** Pods get the node that they ask for, and run. */
async function playNodes(cluster: FakeCluster): Promise<void> {
  for (const pod of cluster.all<Pod>(pods)) {
    if (pod.status?.phase !== undefined || pod.metadata.deletionTimestamp !== undefined) continue
    const bound = await cluster.update<Pod>(pods, { ...pod, spec: { nodeName: nodeOf(pod), ...pod.spec } } as Pod)
    const podIP = `10.0.${++addresses >> 8}.${addresses & 255}`
    const conditions = [{ type: "Ready", status: "True" }]
    const status = { phase: "Running", conditions, podIP, podIPs: [{ ip: podIP }] }
    await cluster.update<Pod>(pods, { ...bound, status } as Pod, { subresource: "status" })
  }
}

function nodeOf({ spec }: Pod): string {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms?.[0]?.matchFields?.[0]?.values?.[0] ?? "n1"
}

/** Everything except times, random names, addresses and revisions. */
function endState(cluster: FakeCluster): Record<string, unknown> {
  const texts = <T extends KubeObject>(of: Resource, parts: (object: T) => unknown[]): string[] =>
    cluster
      .all<T>(of)
      .map((object) => JSON.stringify(parts(object)))
      .sort()
  const statusOf = (of: Resource, name: string): object => {
    const found = cluster.find<KubeObject>(of, "default", name)
    const {
      conditions: _,
      observedGeneration: __,
      currentRevision: ___,
      updateRevision: ____,
      ...status
    } = (found?.["status"] ?? {}) as Record<string, unknown>
    return status
  }
  return {
    daemon: statusOf(daemonSets, "daemon"),
    replicas: statusOf(replicationControllers, "replicas"),
    db: statusOf(statefulSets, "db"),
    budget: statusOf(podDisruptionBudgets, "web"),
    pods: texts<Pod>(pods, ({ metadata, spec, status }) => [
      metadata.labels?.["app"],
      spec?.nodeName,
      spec?.containers[0]?.image,
      status?.phase,
      metadata.deletionTimestamp !== undefined,
    ]),
    slices: texts<EndpointSlice>(endpointSlices, ({ metadata, endpoints: all = [], ports: of }) => [
      metadata.labels?.["kubernetes.io/service-name"],
      all?.map(({ conditions }) => conditions),
      of,
    ]),
    endpoints: texts<Endpoints>(endpoints, ({ metadata, subsets = [] }) => [
      metadata.name,
      subsets.map((each) => [each.addresses?.length, each.notReadyAddresses?.length, each.ports]),
    ]),
    claims: texts<PersistentVolumeClaim>(persistentVolumeClaims, ({ metadata, spec, status }) => [
      status?.phase,
      spec?.volumeName !== undefined,
      metadata.finalizers,
      metadata.ownerReferences?.map(({ kind }) => kind),
    ]),
    bound: cluster.all<PersistentVolume>(persistentVolumes).filter(({ status }) => status?.phase === "Bound").length,
    ofNamespace: [serviceAccounts, configMaps].map((of) => cluster.all(of).length),
  }
}

const start = (client: KubeClient): AsyncDisposable =>
  startControllers(singleCluster(client, "tenant-a"), { rootCertificateAuthority: "ca", only, log: silentLog })

async function reach(cluster: FakeCluster): Promise<Record<string, unknown>> {
  await using _controllers = start(cluster)
  let last = ""
  let turns = 0
  await eventually(async () => {
    await playNodes(cluster)
    const state = endState(cluster)
    expect(state).toMatchObject({
      daemon: { updatedNumberScheduled: 3, numberAvailable: 3 },
      replicas: { replicas: 2, readyReplicas: 2 },
      db: { replicas: 1, readyReplicas: 1 },
    })
    const now = JSON.stringify(state)
    turns = now === last ? turns + 1 : 0
    last = now
    expect(turns).toBeGreaterThan(stillTurns)
  })
  return endState(cluster)
}

test.each(seeds(6))(
  "controllers that crash between any two writes end up as without crashes (seed %i)",
  async (seed) => {
    const [cluster, other] = [new FakeCluster(), new FakeCluster()]
    await begin(cluster)
    await liveAndCrash({ cluster, random: createRandom(seed), start, playNodes, change })
    await begin(other)
    await change(other)
    expect(await reach(cluster)).toEqual(await reach(other))
  },
)
