import { setImmediate as nextTurn } from "node:timers/promises"
import { afterEach, expect, onTestFinished, test, vi } from "vitest"
import type { ConfigMap, Deployment, KubeObject, Namespace, Pod, StatefulSet } from "../../apimachinery/object.ts"
import {
  configMaps,
  daemonSets,
  deployments,
  namespaces,
  nodes,
  pods,
  replicaSets,
  statefulSets,
} from "../../client/resources.ts"
import type { KubeList, Resource } from "../../client/rest.ts"
import { createMemoryStore } from "../../storage/memory/store.ts"
import type { AdmissionPlugin } from "../admission/chain.ts"
import { createControlPlaneStub, type ControlPlaneStub } from "../testing/control-plane-stub.ts"
import { configMap } from "../testing/start-gateway.ts"

const open: ControlPlaneStub[] = []

afterEach(async () => {
  for (const stub of open.splice(0)) await stub[Symbol.asyncDispose]()
})

function client(options: Parameters<typeof createControlPlaneStub>[0] = {}) {
  const stub = createControlPlaneStub(options)
  open.push(stub)
  return stub.client
}

test("given objects are not changed, and returned ones are frozen", async () => {
  const local = client()
  const given = configMap("a", { x: "1" })
  const made = await local.create(configMaps, given)
  expect(given).toEqual(configMap("a", { x: "1" }))
  expect(Object.isFrozen(made.metadata)).toBe(true)
  expect(await local.get(configMaps, "default", "a")).toEqual(made)
})

test("objects are defaulted and validated like in requests", async () => {
  const local = client()
  const spec = {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  }
  const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d", namespace: "default" }, spec }
  const made = await local.create(deployments, deployment as unknown as Deployment)
  expect(made.spec).toMatchObject({ replicas: 1, strategy: { type: "RollingUpdate" } })
  const wrong = { ...deployment, metadata: { name: "e", namespace: "default" }, spec: { ...spec, replicas: -1 } }
  await expect(local.create(deployments, wrong as unknown as Deployment)).rejects.toMatchObject({ reason: "Invalid" })
})

test("the status of a pod with resources of its own is written", async () => {
  const local = client()
  const resources = { limits: { cpu: "2" } }
  const spec = { resources, containers: [{ name: "c", image: "i", resources: { requests: { memory: "1Gi" } } }] }
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "default" }, spec } as Pod
  const made = await local.create(pods, pod)
  expect(made.spec?.resources).toEqual({ limits: { cpu: "2" }, requests: { cpu: "2", memory: "1Gi" } })
  const status = { phase: "Running" }
  const options = { subresource: "status" } as const
  expect(await local.update(pods, { ...made, status }, options)).toMatchObject({ spec: made.spec, status })
  const patched = await local.patch<Pod>(
    pods,
    "default",
    "p",
    { status: { phase: "Failed" } },
    { type: "merge", ...options },
  )
  expect(patched.status?.phase).toBe("Failed")
})

const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } }
const selector = { matchLabels: { a: "b" } }
const conditions = [{ type: "Ready", status: "True" }]
test.each<[string, Resource, object, object]>([
  ["Deployment", deployments, { replicas: 2, selector, template }, { replicas: 2, observedGeneration: 1 }],
  ["ReplicaSet", replicaSets, { replicas: 2, selector, template }, { replicas: 2, observedGeneration: 1 }],
  ["DaemonSet", daemonSets, { selector, template }, { currentNumberScheduled: 1 }],
  ["Pod", pods, { containers: template.spec.containers, resources: { limits: { cpu: "2" } } }, { conditions }],
  ["Node", nodes, { taints: [{ key: "a", effect: "NoSchedule" }] }, { capacity: { cpu: "1500m" } }],
])("the status of a %s is stored alike, whether what else it has is the stored object's own or not", async (...of) => {
  const [kind, resource, spec, status] = of
  const local = client()
  const place = resource.namespaced ? { namespace: "default" } : {}
  const apiVersion = resource.group === "" ? "v1" : `${resource.group}/v1`
  const written = async (name: string, isOwn: boolean): Promise<string> => {
    const metadata = { ...place, name, labels: { a: "b" } }
    const made = await local.create<KubeObject>(resource, { apiVersion, kind, metadata, spec })
    const given = { ...(isOwn ? made : structuredClone(made)), status: { ...(made["status"] as object), ...status } }
    const stored = await local.update<KubeObject>(resource, given, { subresource: "status" })
    const { metadata: other, ...rest } = stored
    const { managedFields = [], labels, generation } = other
    const managers = managedFields.map((entry) => ({ ...entry, time: "" }))
    return JSON.stringify({ managers, labels, generation, ...rest })
  }
  expect(await written("one", true)).toBe(await written("two", false))
})

test.each([true, false])(
  "a status that is left out is completed, whether the rest is the stored object's own (%s)",
  async (isOwn) => {
    const local = client()
    const made = await local.create<Namespace>(namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "n" },
    })
    const { status: _, ...rest } = isOwn ? made : structuredClone(made)
    const stored = await local.update<Namespace>(namespaces, rest, { subresource: "status" })
    expect(stored.status).toEqual({ phase: "Active" })
  },
)

test("the status is written of an object that was stored with a field of a disabled feature", async () => {
  const store = createMemoryStore()
  const local = client({ store })
  const metadata = { name: "s", namespace: "default" }
  const rest = { selector, template, serviceName: "s" }
  await local.create(statefulSets, { apiVersion: "apps/v1", kind: "StatefulSet", metadata, spec: rest } as StatefulSet)
  const key = "/registry/apps/statefulsets/default/s"
  const { value } = (await store.get(key))!
  const stored = JSON.parse(Buffer.from(value).toString()) as StatefulSet
  const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 0, maxUnavailable: 1 } }
  const older = Buffer.from(JSON.stringify({ ...stored, spec: { ...stored.spec, updateStrategy } }))
  await store.txn({ compare: [], operations: [{ type: "put", key, value: older }] })
  const current = await local.get<StatefulSet>(statefulSets, "default", "s")
  expect(current.spec).toMatchObject({ updateStrategy })
  const status = { ...current.status, replicas: 1 }
  const written = await local.update(statefulSets, { ...current, status }, { subresource: "status" })
  expect(written).toMatchObject({ spec: current.spec, status })
})

test.each([
  { what: "that takes long yields", step: 10, turns: true },
  { what: "that is short does not yield", step: 0.1, turns: false },
])("a write $what to the event loop", async ({ step, turns }) => {
  const local = client()
  let clock = 0
  const now = vi.spyOn(performance, "now").mockImplementation(() => (clock += step))
  onTestFinished(() => now.mockRestore())
  let hasTurned = false
  setImmediate(() => {
    hasTurned = true
  })
  await local.create(configMaps, configMap("a"))
  expect(hasTurned).toBe(turns)
})

test("the event loop turns as often between many writes as between the steps of one", async () => {
  let clock = 0
  const now = vi.spyOn(performance, "now").mockImplementation(() => clock)
  onTestFinished(() => now.mockRestore())
  const stepMs = 6
  const step = (): void => {
    clock += stepMs
  }
  const plugin: AdmissionPlugin = { mutate: step, validate: step }
  const local = client({ plugins: [plugin] })
  const held: number[] = []
  const names = Array.from({ length: 10 }, (_, index) => `c${index}`)
  const writing = Promise.all(names.map((name) => local.create(configMaps, configMap(name))))
  for (let last = 0; clock < 2 * names.length * stepMs; last = clock) {
    await nextTurn()
    held.push(clock - last)
  }
  await writing
  const [first, ...later] = held
  expect(first).toBe(names.length * stepMs) // all begin at once
  expect(Math.max(...later)).toBe(stepMs)
})

test("a path of a resource returns its list", async () => {
  const local = client()
  const labelled = configMap("b")
  await local.create(configMaps, configMap("a"))
  await local.create(configMaps, { ...labelled, metadata: { ...labelled.metadata, labels: { app: "web" } } })
  const names = async (query: string): Promise<unknown[]> => {
    const { items } = (await local.raw(`/api/v1/namespaces/default/configmaps${query}`)) as KubeList<KubeObject>
    return items.map(({ metadata }) => metadata.name)
  }
  expect(await names("")).toEqual(["a", "b"])
  expect(await names("?labelSelector=app%3Dweb")).toEqual(["b"])
})

test("all types of patches and the scale subresource are supported", async () => {
  const local = client()
  await local.create(configMaps, configMap("a", { x: "1" }))
  const patch = (document: unknown, type: "json" | "merge" | "strategic" | "apply") =>
    local.patch<ConfigMap>(configMaps, "default", "a", document, { type })
  expect((await patch({ data: { y: "2" } }, "merge")).data).toEqual({ x: "1", y: "2" })
  expect((await patch([{ op: "remove", path: "/data/x" }], "json")).data).toEqual({ y: "2" })
  expect((await patch({ data: { $patch: "replace", z: "3" } }, "strategic")).data).toEqual({ z: "3" })
  const applied = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { q: "1" } }
  const { data, metadata } = await patch(applied, "apply")
  expect(data).toEqual({ z: "3", q: "1" })
  expect(metadata.managedFields).toMatchObject([
    { manager: "polyplane", operation: "Apply" },
    { manager: "polyplane", operation: "Update" },
  ])
})

test("lists, watches and deletes", async () => {
  const local = client()
  await local.create(configMaps, configMap("a"))
  const { items, metadata } = await local.list<ConfigMap>(configMaps, { namespace: "default" })
  expect(items.map((item) => item.kind)).toEqual(["ConfigMap"])
  const abort = new AbortController()
  const watching = (async () => {
    const seen: string[] = []
    const options = { namespace: "default", resourceVersion: metadata.resourceVersion, signal: abort.signal }
    for await (const { type, object } of local.watch<KubeObject>(configMaps, options)) {
      seen.push(`${type} ${object.metadata.name}`)
      if (seen.length === 3) abort.abort()
    }
    return seen
  })()
  await local.create(configMaps, configMap("b"))
  await local.deleteCollection(configMaps, "default")
  expect(await watching).toEqual(["ADDED b", "DELETED a", "DELETED b"])
})

test("unsupported resources and verbs are rejected", async () => {
  const local = client()
  const nothing = { group: "x.example.com", version: "v1", resource: "xs", namespaced: true }
  await expect(local.list(nothing)).rejects.toMatchObject({ code: 404 })
  const reviews = {
    group: "authorization.k8s.io",
    version: "v1",
    resource: "selfsubjectaccessreviews",
    namespaced: false,
  }
  await expect(local.list(reviews)).rejects.toMatchObject({ code: 405 })
  const found = await local.discover()
  expect(found.find(({ resource }) => resource === "horizontalpodautoscalers")?.version).toBe("v2")
  const scaled = found.filter(({ hasScale }) => hasScale).map(({ resource }) => resource)
  expect(scaled.sort()).toEqual(["deployments", "replicasets", "replicationcontrollers", "statefulsets"])
})

test("concurrent paginated lists are complete, and an aborted one does not delay others", async () => {
  const local = client()
  const names = Array.from({ length: 25 }, (_, index) => `c${index + 10}`)
  for (const name of names) await local.create(configMaps, configMap(name))
  const gone = new AbortController()
  const readAll = async (signal?: AbortSignal): Promise<string[]> => {
    const found: string[] = []
    for (let next: string | undefined = ""; next !== undefined;) {
      const place = next === "" ? {} : { continue: next }
      const until = signal === undefined ? {} : { signal }
      const page: KubeList<ConfigMap> = await local.list<ConfigMap>(configMaps, { limit: 10, ...place, ...until })
      const { items, metadata } = page
      expect(metadata.remainingItemCount).toBeUndefined() // not counted for clients in process
      found.push(...items.map((item) => item.metadata.name ?? ""))
      next = metadata.continue
    }
    return found
  }
  const readers = [readAll(), readAll(), readAll(gone.signal), readAll()]
  gone.abort(new Error("gone"))
  const [first, second, third, fourth] = await Promise.allSettled(readers)
  for (const reader of [first, second, fourth]) expect(reader).toMatchObject({ status: "fulfilled", value: names })
  expect(third).toMatchObject({ status: "rejected", reason: { message: "gone" } })
})

test("objects with many values are decoded and validated with pauses", async () => {
  const stub = createControlPlaneStub()
  open.push(stub)
  const pause = vi.spyOn(stub.turns, "pause")
  const pausesOf = async (name: string, variables: number): Promise<number> => {
    pause.mockClear()
    const env = Array.from({ length: variables }, (_, index) => ({ name: `V${index}`, value: "x" }))
    const spec = { containers: [{ name: "c", image: "nginx", env }] }
    await stub.client.create(pods, { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, spec })
    return pause.mock.calls.length
  }
  const few = await pausesOf("small", 10)
  // Some 170 of them while its managers are recorded and it is printed.
  expect((await pausesOf("large", 10_000)) - few).toBeGreaterThan(200)
})
