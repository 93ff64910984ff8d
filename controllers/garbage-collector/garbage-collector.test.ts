import { describe, expect, test } from "vitest"
import type { KubeObject, OwnerReference } from "../../apimachinery/object.ts"
import { unexplained } from "../../apimachinery/status.ts"
import { configMaps, customResourceDefinitions, events, nodes, secrets } from "../../client/resources.ts"
import { countAtOnce } from "../testing/calls-at-once.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import { defineWidgets, widgets } from "../testing/widgets.ts"

const only = ["garbage-collector"]

const owner = (object: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  name: object.metadata.name!,
  uid: object.metadata.uid!,
  ...more,
})

function configMap(name: string, owners: OwnerReference[] = [], namespace = "default"): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, ownerReferences: owners } }
}

const make = (harness: Harness, ...parameters: Parameters<typeof configMap>): Promise<KubeObject> =>
  harness.create(configMaps, configMap(...parameters))
const names = (harness: Harness): string[] => harness.cluster.all(configMaps).map(({ metadata }) => metadata.name!)
const ownersOf = (harness: Harness, name: string): string[] =>
  (harness.cluster.find(configMaps, "default", name)?.metadata.ownerReferences ?? []).map((reference) => reference.name)

describe("the garbage collector", () => {
  test("deletes dependents of deleted owners recursively", async () => {
    await using harness = await startHarness({ only })
    const a = await make(harness, "a")
    const b = await make(harness, "b", [owner(a)])
    await make(harness, "c", [owner(b)])
    await make(harness, "other")
    await harness.cluster.delete(configMaps, "default", "a")
    await eventually(() => expect(names(harness)).toEqual(["other"]))
  })

  test("deletes dependents that are created after their owner's deletion", async () => {
    await using harness = await startHarness({ only })
    const a = await make(harness, "a")
    await harness.cluster.delete(configMaps, "default", "a")
    await make(harness, "b", [owner(a)])
    await eventually(() => expect(names(harness)).toEqual([]))
  })

  test("treats an owner with another uid as absent", async () => {
    await using harness = await startHarness({ only })
    const a = await make(harness, "a")
    await make(harness, "b", [{ ...owner(a), uid: "from-before" }])
    await make(harness, "c", [owner(a)])
    await eventually(() => expect(names(harness)).toEqual(["a", "c"]))
  })

  test("does not look for owners in other namespaces", async () => {
    await using harness = await startHarness({ only })
    const a = await make(harness, "a")
    await make(harness, "b", [owner(a)], "elsewhere")
    await eventually(() => expect(names(harness)).toEqual(["a"]))
    const text = `ownerRef [v1/ConfigMap, namespace: elsewhere, name: a, uid: ${a.metadata.uid}] does not exist in namespace "elsewhere"`
    await eventually(() => expect(harness.cluster.all(events).map(({ message }) => message)).toEqual([text]))
  })

  test("of references that came together reports the first that leads to another namespace", async () => {
    await using harness = await startHarness({ only })
    const [a, b, c] = [await make(harness, "a"), await make(harness, "b"), await make(harness, "c", [], "elsewhere")]
    await make(harness, "dependent", [{ ...owner(a), uid: "nobody" }, owner(c), owner(a), owner(b)], "elsewhere")
    const reported = (): unknown[] => harness.cluster.all(events).map(({ message }) => message)
    const owners = (): string[] => {
      const { ownerReferences = [] } = harness.cluster.find(configMaps, "elsewhere", "dependent")!.metadata
      return ownerReferences.map(({ name }) => name)
    }
    const text = (name: string): unknown => expect.stringContaining(`name: ${name},`)
    await eventually(() => expect([owners(), reported()]).toEqual([["c"], [text("a")]]))
    const d = await make(harness, "d")
    const added = { metadata: { ownerReferences: [owner(c), owner(d)] } }
    await harness.cluster.patch(configMaps, "elsewhere", "dependent", added, { type: "merge" })
    await eventually(() => expect(reported()).toEqual([text("a"), text("d")]))
  })

  test("reports a reference to another namespace that an object gets while it is being deleted", async () => {
    await using harness = await startHarness({ only })
    const a = await make(harness, "a")
    const { metadata, ...rest } = configMap("held", [], "elsewhere")
    await harness.create(configMaps, { ...rest, metadata: { ...metadata, finalizers: ["example.com/hold"] } })
    await harness.cluster.delete(configMaps, "elsewhere", "held")
    const given = { metadata: { ownerReferences: [owner(a)] } }
    await harness.cluster.patch(configMaps, "elsewhere", "held", given, { type: "merge" })
    await eventually(() =>
      expect(harness.cluster.all(events).map(({ reason }) => reason)).toEqual(["OwnerRefInvalidNamespace"]),
    )
    // It does not look its owners up for others.
    await make(harness, "other", [owner(a)], "elsewhere")
    await eventually(() => expect(names(harness)).toEqual(["a", "held"]))
  })

  test("ignores cluster-scoped objects with a namespaced owner, and reports each", async () => {
    await using harness = await startHarness({ only })
    const [a, c] = [await make(harness, "a"), await make(harness, "c")]
    const node = (name: string, owners = [a]): KubeObject => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, ownerReferences: owners.map((each) => owner(each)) },
    })
    const reported = (): (string | undefined)[] =>
      harness.cluster.all(events).map(({ involvedObject }) => (involvedObject as { name?: string }).name)
    await Promise.all(["m", "n"].map((name) => harness.create(nodes, node(name, [a, c]))))
    await make(harness, "b", [{ ...owner(a), uid: "gone" }])
    await eventually(() => expect(names(harness)).toEqual(["a", "c"]))
    await eventually(() => expect(new Set(reported())).toEqual(new Set(["m", "n"])))
    await harness.create(nodes, node("o"))
    await harness.create(nodes, node("p", [c]))
    await eventually(() => expect(new Set(reported())).toEqual(new Set(["m", "n", "o", "p"])))
    expect(harness.cluster.all(nodes)).toHaveLength(4)
  })

  test("keeps a dependent with another owner and removes the reference to the absent one", async () => {
    await using harness = await startHarness({ only })
    const a = await make(harness, "a")
    const b = await make(harness, "b")
    await make(harness, "c", [owner(a), owner(b)])
    await harness.cluster.delete(configMaps, "default", "a")
    await eventually(() => expect(ownersOf(harness, "c")).toEqual(["b"]))
    expect(names(harness)).toEqual(["b", "c"])
  })

  test("in the foreground deletes blocking dependents before their owner", async () => {
    await using harness = await startHarness({ only })
    const a = await make(harness, "a")
    const b = await make(harness, "b", [owner(a, { blockOwnerDeletion: true })])
    await make(harness, "c", [owner(b, { blockOwnerDeletion: true })])
    const gone: string[] = []
    const stop = new AbortController()
    const watching = (async () => {
      for await (const event of harness.cluster.watch(configMaps, { resourceVersion: "0", signal: stop.signal })) {
        if (event.type === "DELETED") gone.push(event.object.metadata.name!)
      }
    })()
    await harness.cluster.delete(configMaps, "default", "a", { propagationPolicy: "Foreground" })
    await eventually(() => expect(gone).toEqual(["c", "b", "a"]))
    stop.abort()
    await watching
  })

  test("in the foreground does not wait for dependents that do not block", async () => {
    await using harness = await startHarness({ only })
    const a = await make(harness, "a")
    const held = configMap("b", [owner(a, { blockOwnerDeletion: false })])
    await harness.create(configMaps, { ...held, metadata: { ...held.metadata, finalizers: ["test/hold"] } })
    await harness.cluster.delete(configMaps, "default", "a", { propagationPolicy: "Foreground" })
    await eventually(() => expect(names(harness)).toEqual(["b"]))
  })

  test("orphans dependents when asked to", async () => {
    await using harness = await startHarness({ only })
    const a = await make(harness, "a")
    await make(harness, "b", [owner(a)])
    await make(harness, "c", [owner(a)])
    await harness.cluster.delete(configMaps, "default", "a", { propagationPolicy: "Orphan" })
    await eventually(() => expect(names(harness)).toEqual(["b", "c"]))
    expect([ownersOf(harness, "b"), ownersOf(harness, "c")]).toEqual([[], []])
  })

  test("orphans many dependents in batches, and the others if one cannot be written", async () => {
    await using harness = await startHarness({ only })
    const { cluster } = harness
    const a = await make(harness, "a")
    const dependents = Array.from({ length: 20 }, (_, index) => `b-${index}`)
    for (const name of dependents) await make(harness, name, [owner(a)])
    const patches = countAtOnce(cluster, "patch")
    let patched = 0
    cluster.fail = (verb) => (verb === "patch" && patched++ === 0 ? unexplained("not now") : undefined)
    await cluster.delete(configMaps, "default", "a", { propagationPolicy: "Orphan" })
    await eventually(() => expect(names(harness)).not.toContain("a"))
    expect(names(harness)).toHaveLength(dependents.length)
    expect(dependents.flatMap((name) => ownersOf(harness, name))).toEqual([])
    expect(patches.most).toBe(4)
  })

  test("processes a late dependent of an owner that waits for no other", async () => {
    await using harness = await startHarness({ only })
    const a = await make(harness, "a")
    await make(harness, "blocks", [owner(a, { blockOwnerDeletion: true })])
    await harness.change(configMaps, "default", "blocks", { metadata: { finalizers: ["example.com/hold"] } })
    await harness.cluster.delete(configMaps, "default", "a", { propagationPolicy: "Foreground" })
    await eventually(() =>
      expect(harness.cluster.find(configMaps, "default", "blocks")!.metadata.deletionTimestamp).toBeDefined(),
    )
    await make(harness, "late", [owner(a)])
    // The owner is known by the time this object, which has no owners left, is gone.
    await make(harness, "stray", [{ ...owner(a), name: "nobody", uid: "11111111-1111-4111-8111-111111111111" }])
    await eventually(() => expect(names(harness)).toEqual(["a", "blocks", "late"]))
    await harness.change(configMaps, "default", "blocks", { metadata: { finalizers: null } })
    await eventually(() => expect(names(harness)).toEqual([]))
  })

  test("resolves cycles of foreground deletion", async () => {
    await using harness = await startHarness({ only })
    const a = await make(harness, "a")
    const b = await make(harness, "b", [owner(a, { blockOwnerDeletion: true })])
    await harness.change(configMaps, "default", "a", {
      metadata: { ownerReferences: [owner(b, { blockOwnerDeletion: true })] },
    })
    await harness.cluster.delete(configMaps, "default", "a", { propagationPolicy: "Foreground" })
    await eventually(() => expect(names(harness)).toEqual([]))
  })

  test("changes only the blocking references of owners in a cycle", async () => {
    await using harness = await startHarness({ only })
    const held = { finalizers: ["example.com/hold"] }
    const a = await make(harness, "a")
    const b = await make(harness, "b", [owner(a)])
    await harness.change(configMaps, "default", "b", { metadata: held })
    await harness.change(configMaps, "default", "a", { metadata: { ownerReferences: [owner(b)], ...held } })
    await harness.cluster.delete(configMaps, "default", "a", { propagationPolicy: "Foreground" })
    await eventually(() => {
      const { metadata } = harness.cluster.find(configMaps, "default", "b")!
      expect(metadata.deletionTimestamp).toBeDefined()
      expect(metadata.ownerReferences).toEqual([owner(a)])
    })
  })

  test("follows owners that are custom resources", async () => {
    await using harness = await startHarness({ only })
    await defineWidgets(harness)
    const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w", namespace: "default" } }
    const w = await harness.create(widgets, widget)
    await make(harness, "b", [owner(w)])
    await harness.create(secrets, { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "default" } })
    await harness.cluster.delete(widgets, "default", "w")
    await eventually(() => expect(names(harness)).toEqual([]))
    expect(harness.cluster.all(secrets)).toHaveLength(1)
  })

  test("treats owners of a removed kind as absent, and waits for those of an unknown kind", async () => {
    await using harness = await startHarness({ only })
    await defineWidgets(harness)
    const w = await harness.create(widgets, {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "w", namespace: "default" },
    })
    await make(harness, "followed", [owner(w)])
    const metadata = { name: "of-no-namespace", ownerReferences: [owner(w)] }
    await harness.create(nodes, { apiVersion: "v1", kind: "Node", metadata })
    await make(harness, "of-another-version", [{ ...owner(w), apiVersion: "example.com/v2" }])
    await make(harness, "probe", [{ ...owner(w), uid: "gone" }])
    await eventually(() => expect(names(harness)).toEqual(["followed", "of-another-version"]))
    // The kind is not found when an object of it is requested.
    await harness.cluster.delete(widgets, "default", "w")
    await harness.cluster.delete(customResourceDefinitions, undefined, "widgets.example.com")
    await eventually(() => expect(names(harness)).toEqual(["of-another-version"]))
    await defineWidgets(harness)
    const again = await harness.create(widgets, {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "w", namespace: "default" },
    })
    await make(harness, "second", [{ ...owner(again), uid: "gone" }])
    await eventually(() => expect(names(harness)).toEqual(["of-another-version"]))
    expect(harness.cluster.all(nodes)).toHaveLength(1)
  })

  test("deletes an object that changes before each delete, unless its owners change", async () => {
    await using harness = await startHarness({ only })
    const a = await make(harness, "a")
    await make(harness, "busy", [owner(a)])
    await make(harness, "given", [owner(a)])
    const b = await make(harness, "b")
    let changes = 0
    harness.cluster.fail = (verb, resource, object) => {
      const name = object?.metadata.name ?? ""
      if (verb !== "delete" || resource !== "configmaps" || changes > 10) return undefined
      if (name === "busy") harness.cluster.edit(configMaps, "default", name, { data: { n: `${changes++}` } })
      if (name === "given")
        harness.cluster.edit(configMaps, "default", name, { metadata: { ownerReferences: [owner(b)] } })
      return undefined
    }
    await harness.cluster.delete(configMaps, "default", "a")
    await eventually(() => expect(names(harness)).toEqual(["b", "given"]))
    expect(changes).toBe(2)
  })

  test("looks up each owner once for any number of dependents", async () => {
    await using harness = await startHarness({ only })
    const a = await make(harness, "a")
    for (let index = 0; index < 50; index++) await make(harness, `d${index}`, [owner(a)])
    const last = await make(harness, "last")
    await make(harness, "probe", [{ ...owner(last), uid: "gone" }])
    await eventually(() => expect(names(harness)).not.toContain("probe"))
    expect(harness.cluster.calls.get("get configmaps")).toBeLessThan(20)
  })
})
