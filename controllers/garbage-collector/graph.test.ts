import { expect, test } from "vitest"
import type { KubeObject, OwnerReference } from "../../apimachinery/object.ts"
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
const reference: OwnerReference = { apiVersion: "wardle.example.com/v1", kind: "Flunder", name: "owner", uid: "owner" }

const object = (uid: string, metadata: Partial<KubeObject["metadata"]>): KubeObject => ({
  apiVersion: "",
  kind: "",
  metadata: { name: uid, uid, namespace: "default", ...metadata },
})

function graphOf(): { graph: Graph; enqueued: string[] } {
  const enqueued: string[] = []
  const graph = new Graph({ enqueue: (uid) => enqueued.push(uid), isThere: () => false })
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
  const deletion = { deletionTimestamp: "2000-01-01T00:00:00Z", finalizers: [foregroundFinalizer] }
  graph.observe(configMaps, object("waiting", deletion))
  const blocks = { apiVersion: "v1", kind: "ConfigMap", name: "waiting", uid: "waiting", blockOwnerDeletion: true }
  graph.observe(flunders, object("flunder", { ownerReferences: [blocks] }))
  expect(graph.blocking("waiting").map(({ uid }) => uid)).toEqual(["flunder"])
  enqueued.length = 0
  graph.forget("wardle.example.com", "Flunder")
  expect([graph.node("flunder"), graph.blocking("waiting"), enqueued]).toEqual([undefined, [], ["waiting"]])
  expect(graph.known(reference, "default")).toBeUndefined()
  expect(graph.node("dependent")).toBeDefined()
})

test("a dependent that is being deleted does not look its owner up for others", () => {
  const enqueued: string[] = []
  const graph = new Graph({ enqueue: (uid) => enqueued.push(uid), isThere: () => false })
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
