import { describe, expect, test } from "vitest"
import type { KubeObject, OwnerReference } from "../../apimachinery/object.ts"
import { internalError, noSuchPath } from "../../apimachinery/status.ts"
import { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { configMaps, customResourceDefinitions } from "../../client/resources.ts"
import type { Resource, WatchEvent, WatchOptions } from "../../client/rest.ts"
import { singleCluster } from "../../client/single-cluster.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import type { TenantUse } from "../../client/tenants.ts"
import { startControllers } from "../main.ts"
import { queueName } from "../queue-names.ts"
import { eventually, harnessAuthority, startHarness, type Harness } from "../testing/harness.ts"
import { SleepingTenants } from "../testing/sleeping-tenants.ts"
import { defineWidgets, widgets } from "../testing/widgets.ts"

const only = ["garbage-collector"]

/** Serves widgets in some versions only. */
class VersionedCluster extends FakeCluster {
  served: readonly string[] = ["v1"]
  /** Number of requests for widgets in other versions. */
  refused = 0

  override async get<T extends KubeObject>(...call: Parameters<FakeCluster["get"]>): Promise<T> {
    this.#check(call[0])
    return super.get<T>(...call)
  }

  override async list<T extends KubeObject>(...call: Parameters<FakeCluster["list"]>) {
    this.#check(call[0])
    return super.list<T>(...call)
  }

  override async patch<T extends KubeObject>(...call: Parameters<FakeCluster["patch"]>): Promise<T> {
    this.#check(call[0])
    return super.patch<T>(...call)
  }

  override async delete(...call: Parameters<FakeCluster["delete"]>) {
    this.#check(call[0])
    return super.delete(...call)
  }

  override watch<T extends KubeObject>(resource: Resource, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    this.#check(resource)
    return super.watch<T>(resource, options)
  }

  #check({ resource, version }: Resource): void {
    if (resource !== "widgets" || this.served.includes(version)) return
    this.refused++
    throw noSuchPath()
  }
}

const reference = ({ apiVersion, kind, metadata }: KubeObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name!,
  uid: metadata.uid!,
})

const config = (name: string, owners: OwnerReference[] = []): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default", ownerReferences: owners },
})
const widget = (owners: OwnerReference[]): KubeObject => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name: "w", namespace: "default", ownerReferences: owners },
})
const broken = internalError("conversion webhook failed")
const nobody: OwnerReference = { apiVersion: "v1", kind: "Secret", name: "nobody", uid: "nobody" }

const names = (cluster: FakeCluster, of: Resource = configMaps): string[] =>
  cluster.all(of).map(({ metadata }) => metadata.name!)

/** The last of the versions is stored. */
function serve(cluster: VersionedCluster, ...served: string[]): void {
  cluster.served = served
  const versions = served.map((name) => ({ name, served: true, storage: name === served.at(-1) }))
  cluster.edit(customResourceDefinitions, undefined, "widgets.example.com", { spec: { versions } })
}

/** A widget with two owners, `a` and `b`, and a dependent that names it in version 2. */
async function startWithWidget(cluster: VersionedCluster, clock?: FakeClock): Promise<Harness> {
  const harness = await startHarness({ only, cluster, ...(clock === undefined ? {} : { clock }) })
  await defineWidgets(harness)
  const [a, b] = [await harness.create(configMaps, config("a")), await harness.create(configMaps, config("b"))]
  const owner = reference(await harness.create(widgets, widget([reference(a), reference(b)])))
  await harness.create(configMaps, config("dependent", [{ ...owner, apiVersion: "example.com/v2" }]))
  // By then the widget has been looked at.
  await harness.create(configMaps, config("probe", [nobody]))
  await eventually(() => expect(names(cluster)).toEqual(["a", "b", "dependent"]))
  return harness
}

describe("custom resources", () => {
  test.each(["does not end", "fails"])(
    "whose list %s are waited for half a minute, in which nothing is looked at again and again",
    async (what) => {
      const clock = new FakeClock()
      const cluster = new FakeCluster({ clock })
      const metrics = new ClientMetrics()
      const queue = metrics.queue(queueName("garbage-collector"))
      await using harness = await startHarness({ only, cluster, clock, metrics })
      await defineWidgets(harness)
      const list = cluster.list.bind(cluster)
      let begun = false
      cluster.list = (resource, options) => {
        if (resource.resource !== "widgets") return list(resource, options)
        begun = true
        return what === "fails" ? Promise.reject(broken) : new Promise(() => undefined)
      }
      const versions = [{ name: "v2", served: true, storage: true }]
      await harness.change(customResourceDefinitions, undefined, "widgets.example.com", { spec: { versions } })
      await eventually(() => expect(begun).toBe(true))
      await harness.create(configMaps, config("stray", [nobody]))
      for (let second = 1; second < 30; second++) {
        clock.advance(1_000)
        await new Promise((resolve) => setImmediate(resolve))
        expect([names(cluster), queue.adds]).toEqual([["stray"], 1])
      }
      clock.advance(1_000)
      await eventually(() => expect(names(cluster)).toEqual([]))
    },
  )

  test.each([
    ["Orphan", [["w", undefined]]],
    ["Foreground", []],
  ] as const)("are known by the end of a deletion (%s) although their first list fails", async (policy, left) => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    await using harness = await startHarness({ only: [], cluster, clock })
    await defineWidgets(harness)
    const owner = { ...reference(await harness.create(configMaps, config("o"))), blockOwnerDeletion: true }
    await harness.create(widgets, widget([owner]))
    await cluster.delete(configMaps, "default", "o", { propagationPolicy: policy })
    let failures = 0
    cluster.fail = (verb, resource) =>
      verb === "list" && resource === "widgets" && failures++ === 0 ? broken : undefined
    /** Whether it was deleted before the widget was. */
    let isFirst = false
    const remove = cluster.delete.bind(cluster)
    cluster.delete = (...call) => {
      isFirst ||= call[0].resource === "widgets" && names(cluster).length === 0
      return remove(...call)
    }
    const tenants = singleCluster(cluster, "a")
    await using _ = startControllers(tenants, { rootCertificateAuthority: harnessAuthority, clock, only })
    await eventually(() => {
      clock.advance(100)
      const present = cluster.all(widgets).map(({ metadata }) => [metadata.name, metadata.ownerReferences])
      expect([names(cluster), present, isFirst]).toEqual([[], left, false])
    })
    expect(failures).toBeGreaterThan(1)
  })

  test("are followed in another version when theirs is not served any more", async () => {
    const cluster = new VersionedCluster()
    await using harness = await startWithWidget(cluster)
    serve(cluster, "v2")
    await eventually(() => expect(cluster.calls.get("list widgets")).toBe(2))
    for (const name of ["a", "b"]) await harness.cluster.delete(configMaps, "default", name)
    await eventually(() => expect([names(cluster, widgets), names(cluster)]).toEqual([[], []]))
  })

  test("are not gone because their version is not served any more", async () => {
    const clock = new FakeClock()
    const cluster = new VersionedCluster({ clock })
    await using harness = await startWithWidget(cluster, clock)
    cluster.fail = (verb, resource) => (verb === "list" && resource === "widgets" ? broken : undefined)
    serve(cluster, "v2")
    const asked = cluster.calls.get("get widgets") ?? 0
    const get = cluster.get.bind(cluster)
    let refused = 0
    cluster.get = (...call) => {
      if (call[0].resource === "widgets" && call[0].version === "v1") refused++
      return get(...call)
    }
    await harness.cluster.delete(configMaps, "default", "b")
    await eventually(() => {
      clock.advance(1_000)
      expect(refused).toBeGreaterThan(2)
    })
    expect([names(cluster, widgets), names(cluster)]).toEqual([["w"], ["a", "dependent"]])
    expect(asked).toBeGreaterThan(0)
  })

  test.each<[policy: "Orphan" | "Foreground", left: [name: string, owners: OwnerReference[]][]]>([
    ["Orphan", [["w", []]]],
    ["Foreground", []],
  ])("of which no version is served any more are waited for (%s)", async (propagationPolicy, left) => {
    const cluster = new VersionedCluster()
    await using harness = await startHarness({ only, cluster })
    await defineWidgets(harness)
    const owner = reference(await harness.create(configMaps, config("a")))
    await harness.create(widgets, widget([{ ...owner, blockOwnerDeletion: true }]))
    // By then the widget has been looked at.
    await harness.create(configMaps, config("probe", [nobody]))
    await eventually(() => expect(names(cluster)).toEqual(["a"]))
    cluster.served = []
    const versions = [{ name: "v1", served: false, storage: true }]
    cluster.edit(customResourceDefinitions, undefined, "widgets.example.com", { spec: { versions } })
    const { refused } = cluster
    await cluster.delete(configMaps, "default", "a", { propagationPolicy })
    await eventually(() => expect(cluster.refused).toBeGreaterThan(refused))
    expect(names(cluster)).toEqual(["a"])
    serve(cluster, "v1")
    const leftOver = () => cluster.all(widgets).map(({ metadata }) => [metadata.name, metadata.ownerReferences ?? []])
    await eventually(() => expect([names(cluster), leftOver()]).toEqual([[], left]))
  })

  test("keep their tenant awake until they have been listed, but no longer than half a minute and not by being asked for", async () => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    await using harness = await startHarness({ only: [], cluster, clock })
    await defineWidgets(harness)
    const tenants = new SleepingTenants(["a"], (_tenant, of) => cluster.all(of), cluster)
    const uses: boolean[] = []
    tenants.client = (...[, use]: [tenant?: unknown, use?: TenantUse]) => {
      uses.push(use?.isUse ?? true)
      return cluster
    }
    cluster.fail = (verb, resource) => (verb === "list" && resource === "widgets" ? broken : undefined)
    await using _ = startControllers(tenants, { rootCertificateAuthority: harnessAuthority, clock, only })
    tenants.wake("a")
    for (let second = 1; second <= 30; second++) {
      await new Promise((resolve) => setImmediate(resolve))
      expect(tenants.rest()).toBe(1)
      clock.advance(1_000)
    }
    await eventually(() => expect(tenants.rest()).toBe(0))
    expect(uses).toEqual([false])
  })
})
