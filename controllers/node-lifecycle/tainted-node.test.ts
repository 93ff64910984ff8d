import { expect, test, vi } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { nodes, pods } from "../../client/resources.ts"
import { countTurns } from "../../client/testing/turns.ts"
import { eventually, startHarness } from "../testing/harness.ts"

test("others have their turn while the many pods of a tainted node are enqueued", async () => {
  await using harness = await startHarness({ only: ["taint-eviction"] })
  await harness.create(nodes, { metadata: { name: "n" }, spec: {} } as unknown as KubeObject)
  const count = 100
  for (let n = 0; n < count; n++) {
    await harness.create(pods, {
      metadata: { name: `p${n}`, namespace: "default" },
      spec: { nodeName: "n" },
    } as unknown as KubeObject)
  }
  await new Promise((resolve) => setImmediate(resolve))
  let now = performance.now()
  using _ = vi.spyOn(performance, "now").mockImplementation(() => (now += 2)) // each is a long stretch
  using turns = countTurns()
  await harness.change(nodes, undefined, "n", { spec: { taints: [{ key: "k", effect: "NoExecute" }] } })
  await eventually(() => expect(harness.cluster.all(pods)).toEqual([]))
  expect(turns.count).toBeGreaterThanOrEqual(count)
})
