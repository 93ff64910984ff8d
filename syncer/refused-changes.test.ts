// What a tenant changes and super refuses, or does not answer: everything else goes on.

import { afterEach, beforeEach, expect, test } from "vitest"
import type { Pod } from "../apimachinery/object.ts"
import { forbidden, internalError, type StatusError } from "../apimachinery/status.ts"
import { events, nodes, pods } from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import { podOf, startHarness } from "./testing/harness.ts"

let harness: Awaited<ReturnType<typeof startHarness>>
beforeEach(async () => {
  harness = await startHarness()
})
afterEach(() => harness[Symbol.asyncDispose]())

const gate = "example.com/ready"
const inTenant = (): Pod | undefined => harness.cluster.find<Pod>(pods, "default", "web")
const copy = (): Pod | undefined => harness.superCluster.find<Pod>(pods, harness.home, "web")

/** A running pod with a readiness gate, whose image the tenant changes, which super answers so. */
async function begin(answer: StatusError, before: () => Promise<unknown> = () => Promise.resolve()): Promise<void> {
  const { cluster, superCluster, home } = harness
  await cluster.create(pods, podOf("web", { readinessGates: [{ conditionType: gate }] }))
  await harness.inSuper(pods, "web")
  superCluster.edit(pods, home, "web", { spec: { nodeName: "node-1" }, status: { phase: "Running" } })
  await eventually(() => inTenant()?.status?.phase === "Running", { what: "it runs" })
  await before()
  const patch = superCluster.patch.bind(superCluster)
  superCluster.patch = (resource, namespace, name, change, options) =>
    resource === pods && Object.hasOwn(change as object, "spec")
      ? Promise.reject(answer)
      : patch(resource, namespace, name, change, options)
  cluster.edit(pods, "default", "web", { spec: { containers: [{ name: "main", image: "nginx:2" }] } })
}

const refusal = forbidden(pods, "web", "images of nginx are not for tenants")

test.each([
  ["refuses", refusal],
  ["does not answer", internalError("failed calling webhook")],
])("the status of a pod is the tenant's also while super %s another change to it", async (_what, answer) => {
  await begin(answer)
  harness.superCluster.edit(pods, harness.home, "web", { status: { phase: "Succeeded" } })
  await eventually(() => inTenant()?.status?.phase === "Succeeded", { what: "it has ended" })
  expect(copy()?.spec?.containers[0]?.image).toBe("nginx:1")
})

test("a change that super refuses keeps it from no other, and the tenant is told", async () => {
  await begin(refusal)
  harness.cluster.edit(pods, "default", "web", { status: { conditions: [{ type: gate, status: "True" }] } })
  await eventually(() => copy()?.status?.conditions?.[0]?.type === gate, { what: "the condition of the gate" })
  const told = harness.cluster.all(events).map(({ reason, message }) => [reason, message])
  expect(told).toContainEqual(["FailedUpdate", refusal.message])
})

test("what super refuses is told, also while the tenant refuses what it is to know", async () => {
  let refused = 0
  await begin(refusal, () => {
    harness.cluster.fail = (verb, resource) => {
      if (verb !== "patch" || resource !== "pods") return undefined
      refused++
      return forbidden(pods, "web", "no")
    }
    harness.superCluster.edit(pods, harness.home, "web", { status: { message: "news" } })
    return eventually(() => refused > 0, { what: "a refusal" })
  })
  const told = (): unknown => harness.cluster.all(events).map(({ reason, message }) => [reason, message])
  await expect.poll(told).toContainEqual(["FailedUpdate", refusal.message])
  expect(refused).toBeGreaterThan(1)
})

test("a tenant's node follows super's also while super refuses the tenant's resources on it", async () => {
  const { cluster, superCluster } = harness
  await eventually(() => cluster.find(nodes, undefined, "node-1"), { what: "node-1" })
  superCluster.fail = (verb, resource) =>
    verb === "patch" && resource === "nodes" ? forbidden(nodes, "node-1", "denied") : undefined
  cluster.edit(nodes, undefined, "node-1", { status: { capacity: { "example.com/dongle": "1" } } })
  superCluster.edit(nodes, undefined, "node-1", { metadata: { labels: { zone: "b" } } })
  const zone = (): unknown => cluster.find(nodes, undefined, "node-1")?.metadata.labels?.["zone"]
  await eventually(() => zone() === "b", { what: "the other zone" })
})
