import { expect, test } from "vitest"
import type { Node } from "../../apimachinery/object.ts"
import { virtualNodeLabel } from "../../apimachinery/tenancy.ts"
import { nodes } from "../../client/resources.ts"
import { eventually, startHarness } from "../testing/harness.ts"
import { stepOf } from "./node-ttl.ts"

test.each([
  { before: 0, count: 100, step: 0 },
  { before: 0, count: 101, step: 1 },
  { before: 1, count: 90, step: 1 },
  { before: 1, count: 89, step: 0 },
  { before: 0, count: 3000, step: 4 },
  { before: 4, count: 1, step: 0 },
])("$count nodes after step $before are in step $step", ({ before, count, step }) => {
  expect(stepOf(before, count)).toBe(step)
})

test("the tenant's own node gets the TTL annotation, a virtual one does not", async () => {
  await using harness = await startHarness({ only: ["node-ttl"] })
  const labels = { [virtualNodeLabel]: "true" }
  await harness.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "virtual", labels } })
  await harness.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "own" } })
  const annotations = (name: string): unknown =>
    harness.cluster.find<Node>(nodes, undefined, name)!.metadata.annotations
  await eventually(() => expect(annotations("own")).toEqual({ "node.alpha.kubernetes.io/ttl": "0" }))
  expect(annotations("virtual")).toBeUndefined()
})
