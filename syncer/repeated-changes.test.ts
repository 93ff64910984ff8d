import { expect, test } from "vitest"
import { configMaps } from "../client/resources.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { eventually } from "../test/harness/eventually.ts"
import { syncerLimits } from "./options.ts"
import { RepeatedChanges } from "./repeated-changes.ts"
import { object, startHarness } from "./testing/harness.ts"

const changes = ["a", "b"].map((value) => [{ patch: { data: { value } } }])
const copyOf = (name: string) => ({ sync: { resource: configMaps }, place: { namespace: "home", name } })

test("the same change of an object is made at once a few times, then less and less often, and another one at once", () => {
  const clock = new FakeClock()
  const repeated = new RepeatedChanges(clock)
  const [one = [], other = []] = changes
  const waits: number[] = []
  for (let time = 0; time < 14; time++) {
    const wait = repeated.wait(copyOf("x"), one)
    waits.push(wait)
    clock.advance(wait)
    repeated.note(copyOf("x"), one)
  }
  const { atOnce, delays } = syncerLimits.repeatedChanges
  waits.forEach((wait, index) => {
    const least = index < atOnce ? 0 : Math.min(delays.first * 2 ** (index - atOnce), delays.longest)
    expect([wait >= least, wait <= least * 1.5]).toEqual([true, true])
  })
  expect(repeated.wait(copyOf("y"), one)).toBe(0)
  expect(repeated.wait(copyOf("x"), other)).toBe(0)
  // Much later it is not the same quarrel.
  clock.advance(10 * delays.longest)
  repeated.note(copyOf("x"), one)
  expect(repeated.wait(copyOf("x"), one)).toBe(0)
})

test("what somebody in super undoes at once is not written for ever, and what the tenant changes still is", async () => {
  await using harness = await startHarness()
  const { cluster, superCluster, home } = harness
  const labels = { by: "tenant" }
  await cluster.create(
    configMaps,
    object("ConfigMap", "default", "x", { metadata: { namespace: "default", name: "x", labels } }),
  )
  let undone = 0
  superCluster.onChange(({ type, resource, object: { metadata } }) => {
    if (type === "DELETED" || resource !== "configmaps" || metadata.labels?.["by"] !== "tenant") return
    setImmediate(() => {
      undone++
      superCluster.edit(configMaps, home, "x", { metadata: { labels: { by: "super" } } })
    })
  })
  await harness.inSuper(configMaps, "x")
  superCluster.edit(configMaps, home, "x", { metadata: { labels: { by: "tenant" } } })
  await eventually(() => undone > 2 && harness.syncer.delayed > 0 && harness.syncer.pending === 0, { what: "it waits" })
  expect(undone).toBeLessThan(10)
  cluster.edit(configMaps, "default", "x", { data: { more: "data" } })
  const data = (): unknown => superCluster.find(configMaps, home, "x")?.["data"]
  await expect.poll(data).toEqual({ more: "data" })
})
