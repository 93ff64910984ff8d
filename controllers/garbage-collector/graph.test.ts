import { expect, test } from "vitest"
import type { KubeObject, OwnerReference } from "../../apimachinery/object.ts"
import { mostAtOnce } from "../../apimachinery/steps.ts"
import type { DiscoveredResource } from "../../client/rest.ts"
import { foregroundFinalizer, Graph } from "./graph.ts"

const flunders: DiscoveredResource = {
  group: "wardle.example.com",
  version: "v1",
  resource: "flunders",
  namespaced: true,
  kind: "Flunder",
  verbs: [],
}
const configMaps = { ...flunders, group: "", resource: "configmaps", kind: "ConfigMap" }
const clusterRoles = { ...flunders, resource: "clusterroles", namespaced: false, kind: "ClusterRole" }
const reference: OwnerReference = { apiVersion: "wardle.example.com/v1", kind: "Flunder", name: "owner", uid: "owner" }

const object = (uid: string, metadata: Partial<KubeObject["metadata"]>): KubeObject => ({
  apiVersion: "",
  kind: "",
  metadata: { name: uid, uid, namespace: "default", ...metadata },
})

const foreground = { deletionTimestamp: "2000-01-01T00:00:00Z", finalizers: [foregroundFinalizer] }

function emptyGraph(): { graph: Graph; enqueued: string[] } {
  const enqueued: string[] = []
  const graph = new Graph({
    enqueue: (uid) => enqueued.push(uid),
    enqueueDependents: (uid, which) => enqueued.push(`${which} of ${uid}`),
    enqueueWaiting: (uid, remaining) => enqueued.push(`${uid} of ${remaining}`),
    isThere: () => false,
  })
  return { graph, enqueued }
}

function graphOf(): { graph: Graph; enqueued: string[] } {
  const { graph, enqueued } = emptyGraph()
  graph.observe(configMaps, object("dependent", { ownerReferences: [reference] }))
  graph.learn(reference, "default", true)
  return { graph, enqueued }
}

test("an owner that may be gone is looked up again; one that is gone is not", () => {
  for (const [call, known] of [
    ["lost", undefined],
    ["gone", "gone"],
  ] as const) {
    const { graph, enqueued } = graphOf()
    enqueued.length = 0
    graph[call]("owner")
    expect([graph.known(reference, "default"), enqueued]).toEqual([known, ["dependent"]])
  }
})

test("of a kind that is no longer followed nothing is known, and its objects block nobody", () => {
  const { graph, enqueued } = graphOf()
  graph.observe(configMaps, object("waiting", foreground))
  const blocks = { apiVersion: "v1", kind: "ConfigMap", name: "waiting", uid: "waiting", blockOwnerDeletion: true }
  graph.observe(flunders, object("flunder", { ownerReferences: [blocks] }))
  expect(graph.isBlocked("waiting")).toBe(true)
  enqueued.length = 0
  graph.forget("wardle.example.com", "Flunder")
  expect([graph.node("flunder"), graph.isBlocked("waiting"), enqueued]).toEqual([undefined, false, ["waiting"]])
  expect(graph.known(reference, "default")).toBeUndefined()
  expect(graph.node("dependent")).toBeDefined()
})

test("a dependent that is being deleted does not look its owner up for others", () => {
  const { graph, enqueued } = emptyGraph()
  const observe = (uid: string, more: Partial<KubeObject["metadata"]> = {}): string[] => {
    enqueued.length = 0
    graph.observe(configMaps, object(uid, { ownerReferences: [reference], ...more }))
    return [...enqueued]
  }
  const deletion = { deletionTimestamp: "2000-01-01T00:00:00Z", finalizers: ["example.com/hold"] }
  observe("deleted", deletion)
  expect(observe("first")).toEqual(["first"])
  expect(observe("second")).toEqual([])
  expect(observe("first", deletion)).toContain("second")
})

test("an object is found where it was observed last, whoever has shown another of its uid before", () => {
  const { graph } = graphOf()
  graph.observe(flunders, object("same", { name: "flunder", namespace: "elsewhere", ownerReferences: [reference] }))
  graph.observe(configMaps, object("same", { ownerReferences: [reference] }))
  expect(graph.node("same")).toMatchObject({ resource: configMaps, namespace: "default", name: "same" })
})

test("an owner that is named otherwise than before is not looked up because of that", () => {
  const { graph, enqueued } = graphOf()
  const observe = (uid: string, name: string): string[] => {
    enqueued.length = 0
    graph.observe(configMaps, object(uid, { ownerReferences: [{ ...reference, name }] }))
    return [...enqueued]
  }
  expect(observe("dependent", "another")).toEqual([])
  expect(observe("dependent", "another")).toEqual([])
  // Of another dependent it is.
  expect(observe("second", "another")).toEqual(["second"])
  enqueued.length = 0
  graph.gone("owner")
  expect(enqueued).toEqual(["dependent", "second"])
})

test.each([
  ["its dependent names it rightly", {}],
  ["its dependent has come to name it otherwise", { apiVersion: "v1", kind: "Secret" }],
])("an owner whose deletion may have been missed is looked up again, also if %s", (_what, names) => {
  const { graph, enqueued } = graphOf()
  graph.observe(configMaps, object("dependent", { ownerReferences: [{ ...reference, ...names }] }))
  enqueued.length = 0
  graph.doubt("", "Secret", new Set())
  graph.doubt("wardle.example.com", "Flunder", new Set(["owner"]))
  expect(enqueued).toEqual([])
  graph.doubt("wardle.example.com", "Flunder", new Set())
  expect(enqueued).toEqual(["dependent"])
  expect(graph.known(reference, "default")).toBeUndefined()
})

test("very many dependents are not enqueued in one step", () => {
  const { graph, enqueued } = graphOf()
  for (let index = 0; index < mostAtOnce; index++)
    graph.observe(configMaps, object(`more-${index}`, { ownerReferences: [reference] }))
  const calls: [call: () => void, expected: string[]][] = [
    [() => graph.observe(flunders, object("owner", foreground)), ["owner", "all of owner"]],
    [() => graph.gone("more-0"), ["owner of 1000"]],
    [() => graph.gone("owner"), ["dependent", ...Array.from({ length: 999 }, (_, index) => `more-${index + 1}`)]],
  ]
  for (const [call, expected] of calls) {
    enqueued.length = 0
    call()
    expect(enqueued).toEqual(expected)
  }
})

test("an owner is enqueued at once when none of its dependents blocks it any more, however many there are", () => {
  const { graph, enqueued } = graphOf()
  graph.observe(flunders, object("owner", foreground))
  for (const uid of ["first", "last"])
    graph.observe(configMaps, object(uid, { ownerReferences: [{ ...reference, blockOwnerDeletion: true }] }))
  for (const [gone, expected] of [
    ["first", "owner of 2"],
    ["last", "owner"],
    ["dependent", "owner of 0"],
  ] as const) {
    enqueued.length = 0
    graph.gone(gone)
    expect(enqueued).toEqual([expected])
  }
})

test("that references lead nowhere is told only to those for which one of the dependents looked the owner up", () => {
  const { graph, enqueued } = emptyGraph()
  const observe = (uid: string): void => {
    enqueued.length = 0
    graph.observe(clusterRoles, { ...object(uid, {}), metadata: { name: uid, uid, ownerReferences: [reference] } })
  }
  observe("first")
  expect(enqueued).toEqual(["first"])
  observe("second")
  expect(enqueued).toEqual([])
  for (const expected of [["first", "second"], []]) {
    enqueued.length = 0
    graph.leadsNowhere(graph.node("first")!)
    expect(enqueued).toEqual(expected)
  }
})
