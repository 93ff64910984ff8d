// The writes to a tenant's object: their order, and what becomes of the others when the tenant refuses one.

import { describe, expect, test } from "vitest"
import type { Pod } from "../apimachinery/object.ts"
import { conflict, forbidden, internalError, notFound } from "../apimachinery/status.ts"
import { pods } from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import { podOf, startHarness } from "./testing/harness.ts"

describe("what super has noted on a pod that runs", () => {
  const noted = "seen.example.com/address"
  const running = {
    metadata: { annotations: { [noted]: "10.1.0.1" } },
    spec: { nodeName: "node-1" },
    status: { phase: "Running" },
  }
  const startNoting = (): ReturnType<typeof startHarness> =>
    startHarness({ transparentMetaPrefixes: ["seen.example.com"] })

  test("is there when the tenant sees it run", async () => {
    await using harness = await startNoting()
    const { cluster } = harness
    const patch = cluster.patch.bind(cluster)
    const states: Pod[] = []
    cluster.patch = (async (...call: Parameters<typeof patch>) => {
      const made = await patch(...call)
      if (call[0] === pods) states.push(made)
      return made
    }) as typeof patch
    await cluster.create(pods, podOf("web"))
    await harness.inSuper(pods, "web")
    harness.superCluster.edit(pods, harness.home, "web", running)
    const runs = await eventually(() => states.find(({ status }) => status?.phase === "Running"), { what: "running" })
    expect(runs.metadata.annotations).toMatchObject({ [noted]: "10.1.0.1" })
  })

  test.each([
    ["refuses", forbidden(pods, "web", "the webhook is not ready")],
    ["fails to write", internalError("the webhook cannot be called")],
    ["finds in conflict", conflict(pods, "web", "the webhook says so")],
    ["does not find", notFound(pods, "web")],
  ])("keeps a tenant that %s it neither from its node nor from its status", async (_does, error) => {
    await using harness = await startNoting()
    const { cluster } = harness
    const patch = cluster.patch.bind(cluster)
    let failures = 0
    // As a webhook in that pod, before it is ready.
    cluster.patch = (async (...call: Parameters<typeof patch>) => {
      const [resource, , , , { subresource }] = call
      if (resource !== pods || subresource !== undefined) return patch(...call)
      failures++
      throw error
    }) as typeof patch
    await cluster.create(pods, podOf("web"))
    await harness.inSuper(pods, "web")
    harness.superCluster.edit(pods, harness.home, "web", running)
    const inTenant = (): Pod | undefined => cluster.find<Pod>(pods, "default", "web")
    await eventually(() => inTenant()?.status?.phase === "Running", { what: "running" })
    expect(inTenant()?.spec?.nodeName).toBe("node-1")
    expect(failures).toBeGreaterThan(0)
    cluster.patch = patch
    await harness.settled()
    await eventually(() => inTenant()?.metadata.annotations?.[noted], { what: "the annotation" })
  })
})

test("a pod that the tenant refuses to bind is not shown as running", async () => {
  await using harness = await startHarness()
  const { cluster } = harness
  const create = cluster.create.bind(cluster)
  const refused: string[] = []
  cluster.create = (async (...call: Parameters<typeof create>) => {
    if (call[2]?.subresource !== "binding") return create(...call)
    refused.push(call[1].metadata.name ?? "")
    throw forbidden(pods, "web", "not on this node")
  }) as typeof create
  await cluster.create(pods, podOf("web"))
  await harness.inSuper(pods, "web")
  harness.superCluster.edit(pods, harness.home, "web", { spec: { nodeName: "node-1" }, status: { phase: "Running" } })
  await eventually(() => refused.includes("web"), { what: "refused" })
  await harness.settled()
  expect(cluster.find<Pod>(pods, "default", "web")?.status?.phase).not.toBe("Running")
})
