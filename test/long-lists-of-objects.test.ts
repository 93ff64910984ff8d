// As long-lists.test.ts: what controllers, the syncer and the gateway make of objects with long lists, and of many objects.

import { describe, expect, test } from "vitest"
import type {
  ClusterRole,
  Endpoints,
  EndpointSlice,
  Job,
  Json,
  KubeObject,
  OwnerReference,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Service,
} from "../apimachinery/object.ts"
import { matches, parseSelector, selectorFromLabelSelector, type Selector } from "../apimachinery/labels.ts"
import { builtInResources } from "../apimachinery/schema/facts.ts"
import { atOnce } from "../apimachinery/steps.ts"
import type { TenantInformer } from "../client/informers/tenant-informer.ts"
import { Graph } from "../controllers/garbage-collector/graph.ts"
import { rulesOf } from "../controllers/clusterrole-aggregation/clusterrole-aggregation.ts"
import { competitorsFor } from "../controllers/autoscaler/autoscaler.ts"
import { mirror } from "../controllers/endpointslice/mirror.ts"
import { longestGraceMs } from "../controllers/namespace/namespace.ts"
import { plan } from "../controllers/endpointslice/plan.ts"
import { portsOf } from "../controllers/endpointslice/service-pods.ts"
import { addHints } from "../controllers/endpointslice/topology-hints.ts"
import { surplusPods } from "../controllers/job/pods.ts"
import { viewOf } from "../controllers/job/view.ts"
import { adoptersOf } from "../controllers/pods/owners.ts"
import { replicationControllerKind } from "../controllers/replicaset/kinds.ts"
import { bestMatch, mismatch } from "../controllers/volume-binding/matching.ts"
import { discoveredResources, versionDiscovery } from "../gateway/aggregation/discovery.ts"
import { resourcesOf } from "../gateway/aggregation/listed-resources.ts"
import { inOrder } from "../gateway/aggregation/priorities.ts"
import { covers } from "../gateway/authorization/rules.ts"
import { acceptNames } from "../gateway/custom-resources/definition/names.ts"
import type { Definition } from "../gateway/custom-resources/types.ts"
import type { TableColumn } from "../gateway/registry/columns/table-column.ts"
import { endpointsColumns } from "../gateway/registry/columns/networking.ts"
import { podColumns } from "../gateway/registry/columns/pods.ts"
import { builtInDefinitions } from "../gateway/registry/definitions.ts"
import type { RequestContext } from "../gateway/request/context.ts"
import { deleteRequestOf, nextDeletionStep } from "../gateway/registry/generic/deletion.ts"
import type { ResourceDefinition } from "../gateway/registry/rest.ts"
import { many, reference, uidOf, numbers, limitThreadTime } from "./harness/long-lists.ts"

limitThreadTime()

test("what a rule grants is multiplied only as far as it is told", () => {
  const words = numbers.slice(0, 1000).map(String)
  const rule = { verbs: words, apiGroups: words, resources: words, resourceNames: words }
  expect(covers([{ ...rule, resourceNames: [] }], [rule])).toEqual([])
  expect(covers([], [rule])).toHaveLength(10_000)
  expect(covers([{ ...rule, verbs: ["*"], resources: words.slice(1) }], [rule])).not.toEqual([])
})

test("many selectors aggregate a role with many rules", () => {
  const labels = { a: "b" }
  const rules = numbers.slice(0, 5_000).map((n) => ({ apiGroups: [`g${n}`], resources: ["pods"], verbs: ["get"] }))
  const roleOf = (name: string, more: object = {}): ClusterRole => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name, labels },
    ...more,
  })
  const role = roleOf("all")
  const selectors = numbers.slice(0, 10_000).map(() => selectorFromLabelSelector({ matchLabels: labels }))
  expect(atOnce(rulesOf(role, [role, roleOf("some", { rules })], selectors))).toEqual(rules)
})

test("ReplicationControllers with many labels may adopt many pods", () => {
  const selector = Object.fromEntries(numbers.slice(0, 10_000).map((n) => [`l${n}`, "x"]))
  const controllers = numbers.slice(0, 100).map((n): KubeObject => {
    const { kind, apiVersion } = replicationControllerKind
    return { kind, apiVersion, metadata: { name: `c${n}` }, spec: { selector } } as KubeObject
  })
  const all = { list: () => controllers } as unknown as TenantInformer<KubeObject>
  const adopters = { all, selectorOf: (owner: KubeObject) => replicationControllerKind.selector(owner) }
  const orphan = (labels: Record<string, string>) => ({ apiVersion: "v1", kind: "Pod", metadata: { labels } })
  for (const _ of numbers.slice(0, 100)) expect(adoptersOf(adopters, "a", orphan({ l0: "x" }))).toEqual([])
  expect(adoptersOf(adopters, "a", orphan(selector))).toEqual(controllers)
})

test("an object that has many owners changes many times", () => {
  const [resource] = builtInResources()
  if (resource === undefined) throw new Error("there are resources")
  const owners = numbers.slice(0, 15_000).map((n) => ({ ...reference, name: `o${n}`, uid: uidOf(n) }))
  const nothing = (): void => undefined
  const graph = new Graph({
    enqueue: nothing,
    enqueueDependents: nothing,
    enqueueWaiting: nothing,
    isThere: () => false,
  })
  for (let time = 0; time < 40; time++) {
    // Parsed each time, as from a watch: equal texts are not the same text.
    const ownerReferences = JSON.parse(JSON.stringify(owners)) as OwnerReference[]
    graph.observe(resource, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", uid: "a", ownerReferences } })
  }
  expect(graph.node("a")?.owners).toHaveLength(owners.length)
})

test("a selector of many values is compared with many pods", () => {
  const values = numbers.map((n) => `v${(n * 7919) % many}`)
  const selector = Object.freeze({ matchExpressions: [{ key: "app", operator: "In", values }] })
  const selects = (n: number): boolean => matches(selectorFromLabelSelector(selector), { app: `v${n}` })
  expect(numbers.slice(0, 2000).every(selects)).toBe(true)
})

test("a job has many pods that are recorded, but not counted", () => {
  const uids = numbers.slice(0, 50_000).map((n) => `11111111-1111-4111-8111-${n}`)
  const finalizers = ["batch.kubernetes.io/job-tracking"]
  const pods = uids.map((uid) => ({ metadata: { uid, finalizers }, status: { phase: "Succeeded" } }) as unknown as Pod)
  const job = { metadata: {}, spec: {}, status: { uncountedTerminatedPods: { succeeded: uids } } } as unknown as Job
  const { newly, succeeded } = viewOf(job, pods)
  expect([newly.succeeded, succeeded]).toEqual([[], uids.length])
})

test("an indexed job has many pods of one index", () => {
  const spec = { completions: 1, completionMode: "Indexed" }
  const annotations = { "batch.kubernetes.io/job-completion-index": "0" }
  const pods = numbers.map((n) => ({ metadata: { name: `p${n}`, annotations }, spec: {} }) as unknown as Pod)
  expect(surplusPods(viewOf({ metadata: {}, spec } as unknown as Job, pods), 0)).toHaveLength(many - 1)
})

test("a namespace that is deleted has many pods", () => {
  const pods = Array.from({ length: 200_000 }, (_, n) => ({ spec: { terminationGracePeriodSeconds: n % 31 } }) as Pod)
  expect(longestGraceMs(pods)).toBe(30_000)
})

test("many autoscalers are compared with many pods", () => {
  const pods = numbers.slice(0, 2000).map((n) => ({ metadata: { labels: { n: `${n}` } } }) as unknown as Pod)
  const selected = numbers.slice(0, 1000).map((n): [string, { selector: Selector }] => {
    return [`a/${n}`, { selector: parseSelector(`app=a${n},tier in (a,b)`) }]
  })
  const others: [string, { selector: Selector }] = ["a/all", { selector: parseSelector("n") }]
  expect(competitorsFor(pods, "a", new Map([...selected, others]))).toEqual(["a/all"])
})

test("claims find the smallest of many volumes", () => {
  const volumes = numbers.slice(0, 10_000).map((n) => {
    const spec = { capacity: { storage: `${((n * 7919) % 10_000) + 1}Mi` }, accessModes: ["ReadWriteOnce"] }
    return { metadata: { name: `v${n}` }, spec, status: { phase: "Available" } } as unknown as PersistentVolume
  })
  const claim = { metadata: {}, spec: { accessModes: ["ReadWriteOnce"] } } as unknown as PersistentVolumeClaim
  for (let count = 0; count < 60; count++) expect(bestMatch(volumes, claim, false)).toBe(volumes[0])
})

describe("endpoints", () => {
  const some = numbers.slice(0, 20_000)
  const addressOf = (n: number): { ip: string } => ({ ip: `10.0.${n >> 8}.${n & 255}` })
  const portOf = (n: number): { name: string; port: number } => ({ name: `p${n}`, port: n + 1 })
  const mirrored = (subsets: unknown[], existing: Parameters<typeof mirror>[1] = []) =>
    mirror({ apiVersion: "v1", kind: "Endpoints", metadata: {}, subsets } as Endpoints, existing)

  test("have many addresses, each with many ports", () => {
    const [slice] = mirrored([{ addresses: some.map(addressOf), ports: some.map(portOf) }])?.create ?? []
    expect([slice?.endpoints?.length, slice?.ports?.length]).toEqual([1000, some.length])
  })

  test("are in many subsets, as are the slices that mirror them", () => {
    const subsets = some.map((n) => ({ addresses: [addressOf(n)], ports: [portOf(n)] }))
    const before = mirrored(subsets)?.create ?? []
    expect(before).toHaveLength(some.length)
    expect(mirrored(subsets, before)).toMatchObject({ create: [], update: [], delete: [] })
    const others = subsets.map(({ addresses }, n) => ({ addresses, ports: [{ port: n + 1 }] }))
    expect(mirrored(others, before)?.update).toHaveLength(some.length)
  })

  test("are in many slices of the same ports", () => {
    const owned = numbers.map((n): EndpointSlice => {
      const { metadata, endpoints } = { metadata: { name: `s${n}` }, endpoints: [{ addresses: [`${n}`] }] }
      return { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata, addressType: "IPv4", endpoints }
    })
    const wanted = [{ addressType: "IPv4", ports: [], endpoints: [{ addresses: ["0"] }] }]
    expect(plan(["IPv4"], wanted, { owned }).delete).toHaveLength(many - 1)
  })

  test("have ports that share many addresses, and each has one of its own", () => {
    const own = some.map((n) => ({ addresses: [addressOf(n)], ports: [portOf(n)] }))
    const shared = some.map((n) => addressOf(some.length + n))
    expect(mirrored([...own, { addresses: shared, ports: some.map(portOf) }])).toBeUndefined()
  })

  test("get hints for the zones of many nodes", () => {
    const shares = new Map(some.map((n) => [`z${n}`, 1 / some.length]))
    const endpoints = [...some, ...some].map((n) => ({ addresses: [`${n}`], zone: `z${n % 2}` }))
    const { counts, refusal } = addHints(shares, { written: [endpoints], kept: [] })
    expect([refusal, new Set(counts.values())]).toEqual([undefined, new Set([2])])
  })

  test("are of a Service with many ports, and of many pods with as many", () => {
    const ports = some.map((n) => ({ ...portOf(n), targetPort: n % 2 === 0 ? n + 1 : `p${n}` }))
    const containerPorts = some.map((n) => ({ name: `p${n}`, containerPort: n + 1 }))
    const pod = { metadata: {}, spec: { containers: [{ ports: containerPorts }] } } as unknown as Pod
    const portsIn = portsOf({ metadata: {}, spec: { ports } } as unknown as Service)
    const lists = numbers.slice(0, 200).map(() => portsIn({ ...pod }))
    expect(new Set(lists).size).toBe(1)
    expect(lists[0]).toHaveLength(some.length)
  })
})

test("a CSINode of many drivers is updated", () => {
  const { strategy } = builtInDefinitions().find(({ resource }) => resource === "csinodes") as ResourceDefinition
  const drivers = numbers.map((n) => ({ name: `d${n}`, nodeID: "a", topologyKeys: [] }))
  const object = { apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata: { name: "a" }, spec: { drivers } }
  const before = JSON.parse(JSON.stringify(object)) as KubeObject
  expect(strategy.validateUpdate?.({} as RequestContext, object, before)).toEqual([])
})

test("a definition has many other short names than before", () => {
  const named = (letter: string) => ({
    plural: "as",
    kind: "A",
    shortNames: Array.from({ length: 2 * many }, (_, n) => `${letter}${1_000_000 + n}`),
  })
  const names = named("a")
  const definition = { metadata: { name: "as" }, spec: { group: "x", names }, status: { acceptedNames: named("b") } }
  expect(acceptNames(definition as unknown as Definition, []).acceptedNames).toEqual(names)
})

describe("an object that", () => {
  const cellOf = (columns: readonly TableColumn[], title: string, object: object): unknown =>
    columns.find(({ name }) => name === title)?.cell(object as KubeObject)

  test("has many addresses and ports is printed", () => {
    const addresses = numbers.map((n) => ({ ip: `10.0.0.${n}` }))
    const ports = numbers.map((n) => ({ port: n + 1 }))
    const object = { metadata: {}, subsets: [{ addresses, ports }, { addresses }] }
    expect(cellOf(endpointsColumns, "Endpoints", object)).toBe("10.0.0.0:1,10.0.0.1:1,10.0.0.2:1 + 10000099997 more...")
  })

  test("has many readiness gates and conditions is printed", () => {
    const readinessGates = numbers.map((n) => ({ conditionType: `example.com/${n}` }))
    const conditions = numbers.map((n) => ({ type: `example.com/${n}`, status: n < 5 ? "True" : "False" })).toReversed()
    const object = { metadata: {}, spec: { containers: [], readinessGates }, status: { conditions } }
    expect(cellOf(podColumns, "Readiness Gates", object)).toBe(`5/${many}`)
  })

  test("has many finalizers is deleted", () => {
    const definition = builtInDefinitions().find(({ resource }) => resource === "configmaps") as ResourceDefinition
    const metadata = { name: "a", finalizers: numbers.map((n) => `example.com/${n}`) }
    const step = nextDeletionStep(definition, { metadata } as KubeObject, deleteRequestOf({}), 0)
    expect(step.step).toBe("mark")
  })

  test("has many access modes is compared", () => {
    const claim = { metadata: {}, spec: { accessModes: numbers.map(() => "ReadWriteOnce") } }
    const accessModes = [...numbers.map(() => "ReadOnlyMany"), "ReadWriteOnce"]
    const volume = { metadata: {}, spec: { accessModes } }
    expect(mismatch(volume as PersistentVolume, claim as PersistentVolumeClaim)).toBeUndefined()
  })
})

describe("discovery of aggregated APIs", () => {
  const api = { group: "a", version: "v1", groupPriority: 1, versionPriority: 1, isCurrent: true, resources: [] }
  const listed = (resources: Json[]) => resourcesOf({ resources }) ?? []

  test("lists many resources and subresources", () => {
    const resources = listed(numbers.flatMap((n) => [{ name: `r${n}` }, { name: `r${n}/s` }]))
    expect(versionDiscovery({ ...api, resources }).resources).toHaveLength(many)
  })

  test("lists many resources with one name", () => {
    const resources = listed(numbers.flatMap((n) => [{ name: "r" }, { name: `r/${n}` }]))
    expect(JSON.stringify(versionDiscovery({ ...api, resources })).length).toBeLessThan(3e7)
  })

  test("lists many groups", () => {
    const resources = listed([{ name: "r" }])
    const all = numbers.map((n) => ({ ...api, group: `g${n}`, resources }))
    expect(inOrder(all, ({ group }) => group).size).toBe(many)
    expect(discoveredResources(all)).toHaveLength(many)
  })
})
