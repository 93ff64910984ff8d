import { expect, test } from "vitest"
import { forbidden, serviceUnavailable } from "../apimachinery/status.ts"
import type { Pod } from "../apimachinery/object.ts"
import { admittedAnnotation } from "../apimachinery/tenancy.ts"
import { configMaps, pods } from "../client/resources.ts"
import type { Resource } from "../client/rest.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { eventually } from "../test/harness/eventually.ts"
import { syncerLimits } from "./options.ts"
import { RepeatedChanges } from "./repeated-changes.ts"
import { object, startHarness } from "./testing/harness.ts"

type Harness = Awaited<ReturnType<typeof startHarness>>

/** Somebody in super sets the label of the copy that the tenant sets. Returns how often. */
function undoing({ superCluster, home }: Harness, kind: Resource, name: string): () => number {
  let undone = 0
  superCluster.onChange(({ type, resource, object: { metadata } }) => {
    if (type === "DELETED" || resource !== kind.resource || metadata.labels?.["by"] !== "tenant") return
    setImmediate(() => {
      undone++
      superCluster.edit(kind, home, name, { metadata: { labels: { by: "super" } } })
    })
  })
  return () => undone
}

const running = (image: string) => ({ spec: { containers: [{ name: "main", image }] } })
const imageOf = (value: unknown): string | undefined => (value as Partial<Pod>).spec?.containers?.[0]?.image

const copyOf = (uid: string) => object("ConfigMap", "home", "x", { metadata: { namespace: "home", name: "x", uid } })

test("the same change of an object is made at once a few times, then less and less often, and another one at once", () => {
  const clock = new FakeClock()
  const repeated = new RepeatedChanges(clock)
  const [one, other] = [{ patch: { data: { value: "a" } } }, { patch: { data: { value: "b" } } }]
  const waits: number[] = []
  for (let time = 0; time < 14; time++) {
    const wait = repeated.wait(copyOf("u1"), one)
    waits.push(wait)
    clock.advance(wait)
    repeated.note(copyOf("u1"), one)
  }
  const { atOnce, delays } = syncerLimits.repeatedChanges
  waits.forEach((wait, index) => {
    const least = index < atOnce ? 0 : Math.min(delays.first * 2 ** (index - atOnce), delays.longest)
    expect([wait >= least, wait <= least * 1.5]).toEqual([true, true])
  })
  // Another object of the same name.
  expect(repeated.wait(copyOf("u2"), one)).toBe(0)
  expect(repeated.wait(copyOf("u1"), { ...one, subresource: "status" })).toBe(0)
  expect(repeated.wait(copyOf("u1"), other)).toBe(0)
  // Much later it is not the same quarrel.
  clock.advance(10 * delays.longest)
  repeated.note(copyOf("u1"), one)
  expect(repeated.wait(copyOf("u1"), one)).toBe(0)
})

test("what somebody in super undoes at once is not written for ever, and what the tenant changes still is", async () => {
  await using harness = await startHarness()
  const { cluster, superCluster, home } = harness
  const labels = { by: "tenant" }
  await cluster.create(
    configMaps,
    object("ConfigMap", "default", "x", { metadata: { namespace: "default", name: "x", labels } }),
  )
  const undone = undoing(harness, configMaps, "x")
  await harness.inSuper(configMaps, "x")
  superCluster.edit(configMaps, home, "x", { metadata: { labels: { by: "tenant" } } })
  await eventually(() => undone() > 2 && harness.syncer.delayed > 0 && harness.syncer.pending === 0, {
    what: "it waits",
  })
  expect(undone()).toBeLessThan(10)
  cluster.edit(configMaps, "default", "x", { data: { more: "data" } })
  const data = (): unknown => superCluster.find(configMaps, home, "x")?.["data"]
  await expect.poll(data).toEqual({ more: "data" })
})

test("a copy that super's admission makes immutable with other contents is not made anew for ever", async () => {
  await using harness = await startHarness()
  const { cluster, superCluster, home } = harness
  let made = 0
  superCluster.onChange(({ type, resource, object: { metadata } }) => {
    if (type !== "ADDED" || resource !== "configmaps" || metadata.name !== "x") return
    made++
    if (made < 20) superCluster.edit(configMaps, home, "x", { data: { by: "super" }, immutable: true })
  })
  await cluster.create(configMaps, object("ConfigMap", "default", "x", { data: { by: "tenant" } }))
  const waits = () => made > 2 && harness.syncer.delayed > 0 && harness.syncer.pending === 0
  await eventually(() => made >= 20 || waits(), { what: "it waits" })
  expect(made).toBeLessThan(10)
})

function refuseResizes({ superCluster }: Harness): void {
  const patch = superCluster.patch.bind(superCluster)
  superCluster.patch = (resource, namespace, name, change, options) =>
    options.subresource === "resize"
      ? Promise.reject(forbidden(pods, name, "no"))
      : patch(resource, namespace, name, change, options)
}

function refuseStatuses({ cluster, superCluster, home }: Harness): void {
  cluster.fail = (verb, resource) =>
    verb === "patch" && resource === "pods" ? serviceUnavailable("a webhook does not answer") : undefined
  superCluster.edit(pods, home, "web", { status: { message: "to be told" } })
}

test.each([
  ["super refuses another change of the copy", refuseResizes],
  ["the tenant does not take what it is told", refuseStatuses],
])("what somebody in super undoes at once is not written for ever, also while %s", async (_what, refuse) => {
  await using harness = await startHarness()
  const { cluster } = harness
  await harness.running("web")
  const undone = undoing(harness, pods, "web")
  refuse(harness)
  cluster.edit(pods, "default", "web", {
    metadata: { labels: { by: "tenant" } },
    spec: { containers: [{ name: "main", image: "nginx:1", resources: { requests: { cpu: "2" } } }] },
  })
  await eventually(() => undone() >= syncerLimits.repeatedChanges.atOnce, { what: "the quarrel" })
  for (let round = 0; round < 20; round++) await harness.settled()
  expect(undone()).toBeLessThan(10)
})

test("an image that is undone at once is not written for ever, also if what admission makes of it cannot be recorded", async () => {
  await using harness = await startHarness()
  const { cluster, superCluster, home } = harness
  await harness.running("web")
  const patch = superCluster.patch.bind(superCluster)
  superCluster.patch = (resource, namespace, name, change, options) =>
    JSON.stringify(change).includes(admittedAnnotation)
      ? Promise.reject(serviceUnavailable("no answer"))
      : patch(resource, namespace, name, imageOf(change) === "b" ? running("mirror/b") : change, options)
  let undone = 0
  superCluster.onChange(({ object }) => {
    if (imageOf(object) !== "mirror/b") return
    setImmediate(() => {
      undone++
      superCluster.edit(pods, home, "web", running("by hand"))
    })
  })
  cluster.edit(pods, "default", "web", running("b"))
  await eventually(() => undone >= syncerLimits.repeatedChanges.atOnce, { what: "the quarrel" })
  for (let round = 0; round < 20; round++) await harness.settled()
  expect(undone).toBeLessThan(10)
})

test("what is edited in the same way each time that it is created anew is edited at once", async () => {
  await using harness = await startHarness()
  const { cluster, superCluster, home } = harness
  const copied = (): unknown => superCluster.find(configMaps, home, "x")?.["data"]
  for (let round = 0; round < syncerLimits.repeatedChanges.atOnce + 2; round++) {
    await cluster.create(configMaps, object("ConfigMap", "default", "x", { data: { value: "1" } }))
    await harness.inSuper(configMaps, "x")
    cluster.edit(configMaps, "default", "x", { data: { value: "2" } })
    await harness.settled()
    expect(copied()).toEqual({ value: "2" })
    await cluster.delete(configMaps, "default", "x")
    await eventually(() => copied() === undefined, { what: "the copy is gone" })
  }
})
