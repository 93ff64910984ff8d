import { describe, expect, test } from "vitest"
import type { KubeObject, Node, PersistentVolume, PersistentVolumeClaim, Pod } from "../apimachinery/object.ts"
import {
  events,
  leases,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import { environmentOf, type Sources, substitute } from "./kubelet/sources.ts"
import {
  cluster,
  conditionOf,
  find,
  isReady,
  namespace,
  podOf,
  ready,
  run,
  sleeping,
  useSimulation,
} from "./testing/simulation.ts"

useSimulation()

describe("nodes", () => {
  test("are ready, have capacity, and renew their leases", async () => {
    const node = cluster.find<Node>(nodes, undefined, "node-1")
    expect(node?.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True")
    expect(node?.status?.allocatable).toMatchObject({ cpu: "32", memory: "128Gi", pods: "500" })
    expect(node?.status?.daemonEndpoints?.kubeletEndpoint?.Port).toBe(10250)
    expect(cluster.find(leases, "kube-node-lease", "node-2")?.metadata.ownerReferences?.[0]?.kind).toBe("Node")
  })
})

describe("the scheduler", () => {
  test("reports why a pod is pending, and schedules it when there is capacity", async () => {
    const big = { ...sleeping, resources: { requests: { cpu: "20" } } }
    await run("a", { containers: [big] })
    await run("b", { containers: [big] })
    await cluster.create(pods, podOf("c", { containers: [big] }))
    const why = await eventually(() => conditionOf(find("c"), "PodScheduled"), { what: "it is refused" })
    expect(why).toMatchObject({
      status: "False",
      reason: "Unschedulable",
      message: "0/2 nodes are available: 2 Insufficient cpu.",
    })
    await cluster.delete(pods, namespace, "a")
    await ready("c")
  })

  test("ignores gated pods and pods of other schedulers", async () => {
    await cluster.create(pods, podOf("gated", { schedulingGates: [{ name: "x" }], containers: [sleeping] }))
    await cluster.create(pods, podOf("other", { schedulerName: "mine", containers: [sleeping] }))
    await run("ours", { containers: [sleeping] })
    expect(find("gated")?.spec?.nodeName).toBeUndefined()
    expect(find("other")?.spec?.nodeName).toBeUndefined()
  })

  test("distributes a thousand pods evenly", async () => {
    for (let i = 0; i < 1000; i++) await cluster.create(pods, podOf(`p${i}`, { containers: [sleeping] }))
    await eventually(() => cluster.all(pods).every((pod) => isReady(pod as Pod)), { what: "all are ready" })
    const onFirst = cluster.all(pods).filter((pod) => (pod as Pod).spec?.nodeName === "node-1")
    expect(onFirst).toHaveLength(500)
    expect(new Set(cluster.all(pods).map((pod) => (pod as Pod).status?.podIP)).size).toBe(1000)
  })
})

describe("volumes", () => {
  const claim = (name: string, storageClassName: string): KubeObject => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace },
    spec: { storageClassName, accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  })
  const claimed = (name: string): PersistentVolumeClaim | undefined =>
    cluster.find<PersistentVolumeClaim>(persistentVolumeClaims, namespace, name)
  const isBound = (name: string): boolean => claimed(name)?.status?.phase === "Bound"
  const using = (name: string) => ({
    containers: [{ ...sleeping, volumeMounts: [{ name: "data", mountPath: "/data" }] }],
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: name } }],
  })

  test("are provisioned for claims of the default class, expanded, and deleted with them", async () => {
    await cluster.create(persistentVolumeClaims, claim("data", "standard"))
    await eventually(() => isBound("data"), { what: "the claim is bound" })
    const volumeName = claimed("data")?.spec?.volumeName ?? ""
    expect(cluster.find<PersistentVolume>(persistentVolumes, undefined, volumeName)?.status?.phase).toBe("Bound")
    cluster.edit(persistentVolumeClaims, namespace, "data", { spec: { resources: { requests: { storage: "2Gi" } } } })
    await eventually(() => claimed("data")?.status?.capacity?.["storage"] === "2Gi", { what: "it is expanded" })
    expect(claimed("data")?.status).toMatchObject({ phase: "Bound", allocatedResources: { storage: "2Gi" } })
    expect(claimed("data")?.status?.conditions ?? []).toEqual([])
    expect(cluster.find<PersistentVolume>(persistentVolumes, undefined, volumeName)?.spec?.capacity).toEqual({
      storage: "2Gi",
    })
    const eventReasons = (): unknown[] => cluster.all(events).map((event) => event["reason"])
    const reasons = ["ExternalExpanding", "Resizing", "VolumeResizeSuccessful"]
    await eventually(() => reasons.every((reason) => eventReasons().includes(reason)), {
      what: "the events are recorded",
    })
    cluster.remove(persistentVolumeClaims, namespace, "data")
    await eventually(() => cluster.all(persistentVolumes).length === 0, { what: "the volume is gone" })
  })

  test("wait for the first consumer if the class says so", async () => {
    await cluster.create(storageClasses, {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "late" },
      provisioner: "simulated.polyplane.dev",
      volumeBindingMode: "WaitForFirstConsumer",
    })
    await cluster.create(persistentVolumeClaims, claim("lazy", "late"))
    await run("other", { containers: [sleeping] })
    expect(isBound("lazy")).toBe(false)
    await run("consumer", using("lazy"))
    expect(isBound("lazy")).toBe(true)
  })

  test("created by hand are bound to matching claims", async () => {
    await cluster.create(persistentVolumeClaims, claim("manual", "by-hand"))
    await cluster.create(persistentVolumes, {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "pv" },
      spec: { storageClassName: "by-hand", accessModes: ["ReadWriteOnce"], capacity: { storage: "5Gi" } },
    })
    await eventually(() => isBound("manual"), { what: "the claim is bound" })
    expect(claimed("manual")?.status?.capacity).toEqual({ storage: "5Gi" })
  })

  test("keep a pod pending until they exist", async () => {
    await cluster.create(pods, podOf("early", using("later")))
    const why = await eventually(() => conditionOf(find("early"), "PodScheduled")?.message, { what: "it is refused" })
    expect(why).toBe('0/2 nodes are available: persistentvolumeclaim "later" not found.')
    await cluster.create(persistentVolumeClaims, claim("later", "standard"))
    await ready("early")
  })
})

test("variables that reference each other are expanded within the limit", async () => {
  const env = Array.from({ length: 60 }, (_, at) => ({
    name: `V${at}`,
    value: at === 0 ? "x" : `$(V${at - 1})$(V${at - 1})`,
  }))
  const sources = { services: { list: () => [], get: () => undefined } } as unknown as Sources
  const container = { name: "a", image: "b", env } as Parameters<typeof environmentOf>[2]
  const pod = { metadata: { namespace: "default", name: "p" } } as Pod
  await expect(environmentOf(sources, pod, container, "10.0.0.1")).rejects.toThrow("argument list too long")
  expect(() => substitute("$(A)".repeat(1000), { A: "x".repeat(10_000) })).toThrow("argument list too long")
})
