import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { Job, KubeObject, Node, PersistentVolume, PersistentVolumeClaim, Pod } from "../apimachinery/object.ts"
import {
  configMaps,
  events,
  leases,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  services,
  storageClasses,
} from "../client/resources.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { eventually } from "../test/harness/eventually.ts"
import { environmentOf, type Sources, substitute } from "./kubelet/sources.ts"
import { startSimulator, type Simulator } from "./main.ts"

const namespace = "default"
let cluster: FakeCluster
let simulator: Simulator

beforeEach(async () => {
  cluster = new FakeCluster({ isPopulated: true })
  simulator = await startSimulator({ client: cluster, nodes: 2, kubeletPort: () => 10250 })
})

afterEach(() => simulator[Symbol.asyncDispose]())

function podOf(name: string, spec: Record<string, unknown>, more: Partial<Job["metadata"]> = {}): KubeObject {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace, ...more }, spec }
}

const container = (command: string[], more: Record<string, unknown> = {}) => ({
  name: "main",
  image: "busybox",
  command,
  ...more,
})

const sleeping = container(["sleep", "3600"])
const find = (name: string): Pod | undefined => cluster.find<Pod>(pods, namespace, name)
const conditionOf = (pod: Pod | undefined, type: string) =>
  pod?.status?.conditions?.find((condition) => condition.type === type)
const isReady = (pod: Pod | undefined): boolean => conditionOf(pod, "Ready")?.status === "True"

async function ready(name: string): Promise<Pod> {
  return eventually(() => (isReady(find(name)) ? find(name) : undefined), { what: `${name} is ready` })
}

async function phase(name: string, wanted: string): Promise<Pod> {
  return eventually(() => (find(name)?.status?.phase === wanted ? find(name) : undefined), {
    what: `${name} is ${wanted}`,
  })
}

async function run(name: string, spec: Record<string, unknown>): Promise<Pod> {
  await cluster.create(pods, podOf(name, spec))
  return ready(name)
}

function running(pod: Pod) {
  const found = simulator.sandbox(pod.spec?.nodeName ?? "", namespace, pod.metadata.name ?? "")
  const one = found?.find("main")?.current
  if (one === undefined) throw new Error("the pod does not run")
  return one
}

async function exec(pod: Pod, ...command: string[]): Promise<string> {
  let output = ""
  const write = (text: string): void => void (output += text)
  await running(pod).exec(command, { stdout: write, stderr: write }, new AbortController().signal)
  return output
}

describe("nodes", () => {
  test("are ready, have capacity, and renew their leases", async () => {
    const node = cluster.find<Node>(nodes, undefined, "node-1")
    expect(node?.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True")
    expect(node?.status?.allocatable).toMatchObject({ cpu: "32", memory: "128Gi", pods: "500" })
    expect(node?.status?.daemonEndpoints?.kubeletEndpoint?.Port).toBe(10250)
    expect(cluster.find(leases, "kube-node-lease", "node-2")?.metadata.ownerReferences?.[0]?.kind).toBe("Node")
  })
})

describe("a pod", () => {
  test("is scheduled and becomes ready with an address of its node", async () => {
    const pod = await run("a", { containers: [sleeping] })
    expect(pod.spec?.nodeName).toMatch(/^node-[12]$/)
    expect(pod.status?.phase).toBe("Running")
    expect(pod.status?.podIP).toMatch(/^10\.12[89]\.0\.\d+$/)
    expect(pod.status?.podIPs).toEqual([{ ip: pod.status?.podIP }])
    expect(pod.status?.containerStatuses?.[0]).toMatchObject({
      name: "main",
      ready: true,
      started: true,
      restartCount: 0,
    })
    for (const type of ["PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"])
      expect(conditionOf(pod, type)?.status).toBe("True")
  })

  test("becomes ready in one write", async () => {
    await run("a", { containers: [sleeping] })
    expect(cluster.writes.filter((write) => write === "update pods default/a/status")).toHaveLength(1)
  })

  test("runs its command to the end", async () => {
    await cluster.create(
      pods,
      podOf("ok", { restartPolicy: "Never", containers: [container(["sh", "-c", "echo done"])] }),
    )
    const pod = await phase("ok", "Succeeded")
    expect(running(pod).log.lines.map(({ text }) => text)).toEqual(["done"])
    expect(pod.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 0, reason: "Completed" })
    await cluster.create(
      pods,
      podOf("bad", { restartPolicy: "Never", containers: [container(["sh", "-c", "exit 3"])] }),
    )
    const failed = await phase("bad", "Failed")
    expect(failed.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 3, reason: "Error" })
  })

  test("that keeps failing backs off", async () => {
    await cluster.create(pods, podOf("crash", { containers: [container(["false"])] }))
    const pod = await eventually(
      () => {
        const found = find("crash")
        return found?.status?.containerStatuses?.[0]?.state?.waiting?.reason === "CrashLoopBackOff" ? found : undefined
      },
      { what: "it backs off" },
    )
    expect(pod.status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 1 } },
    })
    expect(pod.status?.phase).toBe("Running")
  })

  test("runs init containers in order, before the others", async () => {
    const pod = await run("init", {
      initContainers: [
        {
          ...container(["sh", "-c", "echo 1 >> /work/order"]),
          name: "first",
          volumeMounts: [{ name: "w", mountPath: "/work" }],
        },
        {
          ...container(["sh", "-c", "echo 2 >> /work/order"]),
          name: "second",
          volumeMounts: [{ name: "w", mountPath: "/work" }],
        },
      ],
      containers: [{ ...sleeping, volumeMounts: [{ name: "w", mountPath: "/work" }] }],
      volumes: [{ name: "w", emptyDir: {} }],
    })
    expect(await exec(pod, "cat", "/work/order")).toBe("1\n2\n")
    expect(pod.status?.initContainerStatuses?.map(({ ready: done }) => done)).toEqual([true, true])
  })

  test("is not blocked by an init container whose program is not simulated", async () => {
    const prepared = (restartPolicy?: "Always") => ({
      name: restartPolicy === undefined ? "prepares" : "beside",
      image: "registry.example.com/prepare:1",
      ...(restartPolicy === undefined ? {} : { restartPolicy }),
    })
    const pod = await run("prepared", {
      initContainers: [prepared(), prepared("Always")],
      containers: [{ ...sleeping }],
    })
    const states = pod.status?.initContainerStatuses?.map(({ state }) => state)
    expect(states).toMatchObject([{ terminated: { exitCode: 0, reason: "Completed" } }, { running: {} }])
  })

  test("waits for a ConfigMap its environment needs", async () => {
    const env = [{ name: "KEY", valueFrom: { configMapKeyRef: { name: "settings", key: "key" } } }]
    await cluster.create(pods, podOf("env", { containers: [{ ...sleeping, env }] }))
    const waiting = await eventually(() => find("env")?.status?.containerStatuses?.[0]?.state?.waiting?.message, {
      what: "it waits",
    })
    expect(waiting).toBe('configmap "settings" not found')
    await cluster.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings", namespace },
      data: { key: "value" },
    })
    expect(await exec(await ready("env"), "printenv", "KEY")).toBe("value\n")
  })

  test("has files of ConfigMaps, the downward API, services and tokens", async () => {
    await cluster.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "c", namespace },
      data: { file: "text" },
    })
    await cluster.create(services, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "my-db", namespace },
      spec: { clusterIP: "10.0.0.5", ports: [{ port: 5432 }] },
    })
    const pod = await run("files", {
      serviceAccountName: "default",
      containers: [
        {
          ...sleeping,
          env: [{ name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
          volumeMounts: [
            { name: "c", mountPath: "/c" },
            { name: "t", mountPath: "/t" },
          ],
        },
      ],
      volumes: [
        { name: "c", configMap: { name: "c" } },
        { name: "t", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } },
      ],
    })
    expect(await exec(pod, "cat", "/c/file", "/etc/hostname")).toBe("textfiles\n")
    expect(await exec(pod, "sh", "-c", "echo $POD $MY_DB_SERVICE_HOST:$MY_DB_SERVICE_PORT")).toBe(
      "files 10.0.0.5:5432\n",
    )
    expect(await exec(pod, "cat", "/t/token")).toMatch(/^token-/)
    expect(await exec(pod, "curl")).toBe("sh: curl: not found\n")
  })

  test("is ready when its probe succeeds", async () => {
    const readinessProbe = { exec: { command: ["cat", "/tmp/ready"] }, periodSeconds: 1 }
    await cluster.create(pods, podOf("probe", { containers: [container(["sleep", "3600"], { readinessProbe })] }))
    const pod = await phase("probe", "Running")
    expect(conditionOf(pod, "Ready")).toMatchObject({ status: "False", reason: "ContainersNotReady" })
    await exec(pod, "touch", "/tmp/ready")
    await ready("probe")
  })

  test("waits for its readiness gates", async () => {
    await cluster.create(
      pods,
      podOf("gate", { readinessGates: [{ conditionType: "x.io/open" }], containers: [sleeping] }),
    )
    const pod = await phase("gate", "Running")
    expect(conditionOf(pod, "Ready")?.reason).toBe("ReadinessGatesNotReady")
    const conditions = [...(pod.status?.conditions ?? []), { type: "x.io/open", status: "True" }]
    cluster.edit(pods, namespace, "gate", { status: { conditions } })
    await ready("gate")
  })

  test("fails when its deadline has passed", async () => {
    await cluster.create(pods, podOf("late", { activeDeadlineSeconds: 1, containers: [sleeping] }))
    expect((await phase("late", "Failed")).status?.reason).toBe("DeadlineExceeded")
  })

  test.each([
    { name: "said", script: "echo done > /dev/termination-log", message: "done\n" },
    { name: "unsaid", script: "echo why; exit 3", policy: "FallbackToLogsOnError", message: "why\n" },
    { name: "quiet", script: "echo why; exit 3", policy: "File", message: undefined },
    { name: "fine", script: "echo why", policy: "FallbackToLogsOnError", message: undefined },
  ])("reports what a container said last: $name", async ({ name, script, policy = "File", message }) => {
    const more = { terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: policy }
    const containers = [container(["sh", "-c", script], more)]
    await cluster.create(pods, podOf(name, { restartPolicy: "Never", containers }))
    const pod = await phase(name, script.includes("exit") ? "Failed" : "Succeeded")
    expect(pod.status?.containerStatuses?.[0]?.state?.terminated?.message).toBe(message)
  })

  test("ends when it is deleted and reports how its containers ended", async () => {
    const pod = await run("gone", { containers: [sleeping] })
    const phases: unknown[] = []
    cluster.onChange(({ object }) => {
      if (object.metadata.name === "gone") phases.push((object as Pod).status?.phase)
    })
    await cluster.delete(pods, namespace, "gone")
    await eventually(() => find("gone") === undefined, { what: "it is gone" })
    expect(phases).toContain("Failed")
    expect(simulator.sandbox(pod.spec?.nodeName ?? "", namespace, "gone")).toBeUndefined()
  })

  test("keeps its address across a restart of the simulator", async () => {
    const before = await run("stays", { containers: [sleeping] })
    await simulator[Symbol.asyncDispose]()
    simulator = await startSimulator({ client: cluster, nodes: 2, kubeletPort: () => 10250 })
    const after = await eventually(
      () => {
        const found = find("stays")
        return found?.status?.containerStatuses?.[0]?.restartCount === 1 ? found : undefined
      },
      { what: "it runs again" },
    )
    expect(after.status?.podIP).toBe(before.status?.podIP)
    expect(isReady(after)).toBe(true)
  })

  test("records events", async () => {
    await run("told", { containers: [sleeping] })
    const reasons = (): string[] =>
      cluster
        .all(events)
        .filter((event) => (event["involvedObject"] as { name: string }).name === "told")
        .map((event) => event["reason"] as string)
    await eventually(() => reasons().includes("Started"), { what: "the event is recorded" })
    expect(reasons().sort()).toEqual(["Created", "Pulled", "Scheduled", "Started"])
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
