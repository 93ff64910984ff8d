// Controllers with an aggregated API, whose objects a fake cluster has.

import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { KubeObject, OwnerReference } from "../../apimachinery/object.ts"
import { serviceUnavailable } from "../../apimachinery/status.ts"
import { apiServices } from "../../client/api-services.ts"
import { silentLog } from "../../client/log.ts"
import { readError } from "../../client/http/errors.ts"
import { configMaps, resourceQuotas } from "../../client/resources.ts"
import type { DiscoveredResource } from "../../client/rest.ts"
import { singleCluster } from "../../client/single-cluster.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { Informers } from "../informers.ts"
import { eventually, type Harness, startHarness } from "../testing/harness.ts"
import { SleepingTenants } from "../testing/sleeping-tenants.ts"
import { AggregatedResources } from "./aggregated-resources.ts"
import type { AggregatedHandler } from "./handler.ts"

const group = "wardle.example.com"
const only = ["garbage-collector", "resourcequota"]

const kind = (resource: string, more: Partial<DiscoveredResource> = {}): DiscoveredResource => ({
  group,
  version: "v1",
  resource,
  namespaced: true,
  kind: resource.replace(/^./, (first) => first.toUpperCase()).replace(/s$/, ""),
  verbs: ["get", "list", "watch", "create", "patch", "delete"],
  ...more,
})
const flunders = kind("flunders", { otherVersions: ["v1alpha1"] })

const apiService: KubeObject = {
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  metadata: { name: `v1.${group}` },
  spec: { group, version: "v1", service: { namespace: "default", name: "wardle" } },
  status: { conditions: [{ type: "Available", status: "True" }] },
} as KubeObject

const owner = (object: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  name: object.metadata.name!,
  uid: object.metadata.uid ?? "",
  ...more,
})
const named = (resource: DiscoveredResource, name: string, ownerReferences: OwnerReference[] = []): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: resource.kind,
  metadata: { namespace: "default", name, ownerReferences },
})
const config = (name: string, ownerReferences: OwnerReference[] = []): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name, ownerReferences },
})

async function startWith(resources: readonly DiscoveredResource[], clock = new FakeClock()): Promise<Harness> {
  const cluster = new FakeCluster({ clock })
  cluster.extra.push(...resources)
  await cluster.create(apiServices, apiService)
  return startHarness({ only, cluster, clock })
}
const names = ({ cluster }: Harness, resource = configMaps): string[] =>
  cluster.all(resource).map(({ metadata }) => metadata.name!)

describe("objects of an aggregated API", () => {
  test("are collected with their owners, and their dependents with them", async () => {
    await using harness = await startWith([flunders])
    const root = await harness.create(configMaps, config("root"))
    const flunder = await harness.create(flunders, named(flunders, "one", [owner(root)]))
    await harness.create(configMaps, config("leaf", [owner(flunder, { apiVersion: `${group}/v1alpha1` })]))
    await harness.create(configMaps, config("other"))
    await harness.cluster.delete(configMaps, "default", "root")
    await eventually(() => expect([names(harness), names(harness, flunders)]).toEqual([["other"], []]))
  })

  test("are gone when their server says so in its own words", async () => {
    await using harness = await startWith([flunders])
    const { cluster } = harness
    const get = cluster.get.bind(cluster)
    cluster.get = async <T extends KubeObject>(...call: Parameters<FakeCluster["get"]>): Promise<T> =>
      get<T>(...call).catch((error: unknown) => {
        if (call[0].resource !== "flunders") throw error
        throw readError({ method: "GET", path: "/" }, 404, Buffer.from("no such page"))
      })
    await harness.create(configMaps, config("leaf", [owner(named(flunders, "nobody"), { uid: "x" })]))
    await eventually(() => expect(names(harness)).toEqual([]))
  })

  test.each([
    ["is orphaning its dependents", { deletionTimestamp: "2000-01-01T00:00:00Z", finalizers: ["orphan"] }],
    ["has owners and is gone when it is asked for", { ownerReferences: [owner(config("x"), { uid: "x" })] }],
  ])("decide nothing for another API's object whose uid one has that %s", async (_what, metadata) => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    cluster.extra.push(flunders)
    await cluster.create(apiServices, apiService)
    const root = await cluster.create(configMaps, config("root"))
    await cluster.create(configMaps, config("leaf", [owner(root)]))
    await cluster.create(flunders, named(flunders, "one"))
    const list = cluster.list.bind(cluster)
    cluster.list = async <T extends KubeObject>(...call: Parameters<FakeCluster["list"]>) => {
      const found = await list<T>(...call)
      if (call[0].resource !== "flunders") return found
      const shown = (one: T): T => ({ ...one, metadata: { ...one.metadata, ...metadata, uid: root.metadata.uid! } })
      return { ...found, items: found.items.map(shown) }
    }
    await using harness = await startHarness({ only, cluster, clock })
    await eventually(() => expect(cluster.calls.get("get flunders")).toBeGreaterThan(0))
    await harness.create(configMaps, config("probe", [owner(root, { uid: "nobody" })]))
    await eventually(() => expect(names(harness)).not.toContain("probe"))
    expect(cluster.find(configMaps, "default", "leaf")?.metadata.ownerReferences).toEqual([owner(root)])
  })

  test("count as there while their server fails", async () => {
    const clock = new FakeClock()
    await using harness = await startWith([flunders], clock)
    const { cluster } = harness
    const flunder = await harness.create(flunders, named(flunders, "one"))
    cluster.fail = (_, resource) => (resource === "flunders" ? serviceUnavailable("down") : undefined)
    await harness.create(configMaps, config("leaf", [owner(flunder)]))
    await harness.create(
      configMaps,
      config("orphan", [owner(apiService, { apiVersion: "v1", kind: "Node", uid: "x" })]),
    )
    // Others do not wait for it.
    await eventually(() => expect(names(harness)).toEqual(["leaf"]))
    cluster.fail = undefined
    await cluster.delete(flunders, "default", "one")
    await eventually(() => {
      clock.advance(1_000)
      expect(names(harness)).toEqual([])
    })
  })

  test("are counted again by quotas when they are deleted", async () => {
    await using harness = await startWith([flunders])
    for (const name of ["one", "two"]) await harness.create(flunders, named(flunders, name))
    const hard = { [`count/flunders.${group}`]: "5" }
    const quota = {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { namespace: "default", name: "q" },
      spec: { hard },
    }
    await harness.create(resourceQuotas, quota)
    const used = () => harness.cluster.find(resourceQuotas, "default", "q")?.["status" as never]
    await eventually(() => expect(used()).toMatchObject({ used: { [`count/flunders.${group}`]: "2" } }))
    await harness.cluster.delete(flunders, "default", "one")
    await eventually(() => expect(used()).toMatchObject({ used: { [`count/flunders.${group}`]: "1" } }))
  })

  test("are not followed beyond a number of resources, or if they cannot be watched", async () => {
    const many = Array.from({ length: 40 }, (_, index) => kind(`thing${index}s`))
    await using harness = await startWith([kind("metrics", { verbs: ["get", "list"] }), ...many])
    const listed = () => [...harness.cluster.calls.keys()].filter((call) => /^list (thing|metrics)/.test(call))
    await eventually(() => expect(listed()).toHaveLength(32))
    expect(listed()).not.toContain("list metrics")
  })
})

const nothing = (): void => undefined
const deaf: AggregatedHandler = { replaced: nothing, changed: nothing, forgotten: nothing, complete: nothing }

describe("a tenant", () => {
  let ending: AbortController
  beforeEach(() => (ending = new AbortController()))
  afterEach(() => ending.abort())

  test("forgets the resources of an API that is removed", async () => {
    const cluster = new FakeCluster()
    cluster.extra.push(flunders)
    await cluster.create(apiServices, apiService)
    const tenants = singleCluster(cluster, "a")
    const parts = { tenants, clock: new FakeClock(), log: silentLog, signal: ending.signal }
    const aggregated = new AggregatedResources({
      ...parts,
      informers: new Informers(tenants, silentLog, ending.signal),
    })
    const forgotten: string[] = []
    aggregated.subscribe({ ...deaf, forgotten: (_, { resource }) => forgotten.push(resource) })
    const reference = { apiVersion: `${group}/v1alpha1`, kind: "Flunder", name: "a", uid: "1" }
    await eventually(() => expect(aggregated.isComplete("a")).toBe(true))
    expect(aggregated.resourceOf("a", reference)).toMatchObject({ version: "v1alpha1", resource: "flunders" })
    expect(aggregated.resourceOf("a", { ...reference, apiVersion: `${group}/v2` })).toBeUndefined()
    await cluster.delete(apiServices, undefined, `v1.${group}`)
    await eventually(() => expect(forgotten).toEqual(["flunders"]))
    expect(aggregated.resourceOf("a", reference)).toBeUndefined()
  })

  test("holds watches only while it is awake, and stays so until they have begun", async () => {
    const cluster = new FakeCluster()
    cluster.extra.push(flunders)
    const tenants = new SleepingTenants(
      ["with", "without"],
      (tenant, { resource }) => (resource === "apiservices" && tenant === "with" ? [apiService] : []),
      cluster,
    )
    const parts = { tenants, clock: new FakeClock(), log: silentLog, signal: ending.signal }
    const informers = new Informers(tenants, silentLog, ending.signal)
    const aggregated = new AggregatedResources({ ...parts, informers })
    const complete: string[] = []
    aggregated.subscribe({ ...deaf, complete: (tenant) => complete.push(tenant) })
    tenants.wake("with")
    tenants.wake("without")
    expect([tenants.rest(), aggregated.isComplete("with"), complete]).toEqual([1, false, ["without"]])
    await eventually(() => expect(aggregated.isComplete("with")).toBe(true))
    expect(aggregated.has("with", flunders)).toBe(true)
    expect([tenants.rest(), aggregated.has("with", flunders)]).toEqual([0, false])
    expect(complete).toEqual(["without", "with"])
    expect(cluster.calls.get("list flunders")).toBe(1)
  })
})
