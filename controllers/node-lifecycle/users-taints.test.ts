// What users and former nodes leave on a node that says nothing, or is one of many that are not ready.

import { expect, test } from "vitest"
import type { KubeObject, Node, Pod } from "../../apimachinery/object.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { nodes, pods } from "../../client/resources.ts"
import { eventually, eventTexts, startHarness, type Harness } from "../testing/harness.ts"

const only = ["node-lifecycle", "taint-eviction"]
const notReady = "node.kubernetes.io/not-ready"
const unreachable = "node.kubernetes.io/unreachable"

const node = (name: string, ready?: string): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    ...(ready === undefined ? {} : { status: { conditions: [{ type: "Ready", status: ready }] } }),
  }) as KubeObject

const found = (harness: Harness, name: string): Node => harness.cluster.find<Node>(nodes, undefined, name) as Node
const evicting = (harness: Harness, name: string): string[] =>
  (found(harness, name).spec?.taints ?? []).filter(({ effect }) => effect === "NoExecute").map(({ key }) => key)

async function taint(harness: Harness, name: string, ...keys: string[]): Promise<void> {
  const taints = keys.map((key) => ({ key, effect: "NoExecute" }))
  await harness.change(nodes, undefined, name, { spec: { taints } })
}

/** The controller has looked at the node after what was done before. */
async function seen(harness: Harness, name: string): Promise<void> {
  const value = String(Math.random())
  await harness.change(nodes, undefined, name, { metadata: { labels: { "kubernetes.io/os": value } } })
  await eventually(() => expect(found(harness, name).metadata.labels?.["beta.kubernetes.io/os"]).toBe(value))
  await harness.change(nodes, undefined, name, { metadata: { labels: { "kubernetes.io/arch": value } } })
  await eventually(() => expect(found(harness, name).metadata.labels?.["beta.kubernetes.io/arch"]).toBe(value))
}

test("a node that is made again and says nothing has no more time than the former one had", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only, clock })
  await harness.create(nodes, node("a", "True"))
  await eventually(() => expect(eventTexts(harness)).toHaveLength(1))
  clock.advance(20_000)
  await harness.cluster.delete(nodes, undefined, "a")
  await eventually(() =>
    expect(eventTexts(harness)).toContain("RemovingNode: Node a event: Removing Node a from Controller"),
  )
  clock.advance(100_000)
  await harness.create(nodes, node("a"))
  await seen(harness, "a")
  expect(found(harness, "a").status?.conditions).toBeUndefined()
  const since = clock.now()
  await eventually(() => {
    clock.advance(100)
    expect(found(harness, "a").status?.conditions).toMatchObject([{ type: "Ready", status: "Unknown" }, {}, {}, {}])
  })
  expect(clock.now() - since).toBeLessThan(30_000)
})

test("a node that says nothing keeps a user's taint, but not one it is made with", async () => {
  await using harness = await startHarness({ only })
  const made = { ...node("a"), spec: { taints: [{ key: notReady, effect: "NoExecute" }] } }
  await harness.create(nodes, made as KubeObject)
  await eventually(() => expect(evicting(harness, "a")).toEqual([]))
  await taint(harness, "a", notReady)
  await seen(harness, "a")
  expect(evicting(harness, "a")).toEqual([notReady])
})

test("while no node is ready, a user's taint stays, as that of the node's state", async () => {
  await using harness = await startHarness({ only })
  await harness.create(nodes, node("a", "False"))
  await harness.create(nodes, node("b", "False"))
  for (const name of ["a", "b"]) await seen(harness, name)
  await taint(harness, "a", notReady, "mine")
  await taint(harness, "b", unreachable)
  for (const name of ["a", "b"]) await seen(harness, name)
  expect(evicting(harness, "a")).toEqual([notReady, "mine"])
  expect(evicting(harness, "b")).toEqual([notReady])
})

test("a node that says nothing does not keep others waiting", async () => {
  await using harness = await startHarness({ only, clock: new FakeClock() })
  await harness.create(nodes, node("mute"))
  await harness.create(nodes, node("up", "True"))
  await seen(harness, "mute")
  await harness.create(nodes, node("down", "False"))
  await eventually(() => expect(evicting(harness, "down")).toEqual([notReady]))
})

test("a node that was not ready and falls silent has both taints for a moment", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only, clock })
  await harness.create(nodes, node("up", "True"))
  await harness.create(nodes, node("a", "False"))
  const soon = { key: notReady, operator: "Exists", tolerationSeconds: 1 }
  const held: KubeObject = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "held", namespace: "default", finalizers: ["example.com/hold"] },
    spec: { nodeName: "a", tolerations: [soon, { key: unreachable, operator: "Exists" }] },
  }
  await harness.create<Pod>(pods, held)
  await eventually(() => {
    clock.advance(100)
    expect(eventTexts(harness)).toContain("TaintManagerEviction: Marking for deletion Pod default/held")
  })
  const conditions = [{ type: "Ready", status: "Unknown" }]
  await harness.cluster.update<Node>(nodes, { ...found(harness, "a"), status: { conditions } } as Node, {
    subresource: "status",
  })
  // It would be evicted once more because of the first, and is not because of the second.
  await eventually(() =>
    expect(eventTexts(harness)).toContain("TaintManagerEviction: Cancelling deletion of Pod default/held"),
  )
  expect(evicting(harness, "a")).toEqual([unreachable])
})

test("new nodes that are not ready and tainted for it already are evicted in their turns", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only, clock })
  await harness.create(nodes, node("up", "True"))
  await seen(harness, "up")
  const tainted = (name: string, key: string): KubeObject =>
    ({ ...node(name, "False"), spec: { taints: [{ key, effect: "NoExecute", value: "theirs" }] } }) as KubeObject
  await harness.create(nodes, tainted("a", notReady))
  await eventually(() =>
    expect(found(harness, "a").spec?.taints?.map(({ value }) => value)).toEqual([undefined, undefined]),
  )
  expect(evicting(harness, "a")).toEqual([notReady])
  await harness.create(nodes, tainted("b", notReady))
  await eventually(() => expect(evicting(harness, "b")).toEqual([]))
  await seen(harness, "b")
  expect(evicting(harness, "b")).toEqual([])
  await eventually(() => {
    clock.advance(1_000)
    expect(evicting(harness, "b")).toEqual([notReady])
  })
})

test("a new node that is tainted for another state than it is in is evicted at once", async () => {
  await using harness = await startHarness({ only, clock: new FakeClock() })
  await harness.create(nodes, node("up", "True"))
  await harness.create(nodes, node("first", "False"))
  await eventually(() => expect(evicting(harness, "first")).toEqual([notReady]))
  const made = { ...node("a", "False"), spec: { taints: [{ key: unreachable, effect: "NoExecute" }] } }
  await harness.create(nodes, made as KubeObject)
  await eventually(() => expect(evicting(harness, "a")).toEqual([notReady]))
})
