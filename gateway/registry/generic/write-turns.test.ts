import { setImmediate } from "node:timers/promises"
import { expect, test } from "vitest"
import type { AdmissionPlugin } from "../../admission/chain.ts"
import { createKindsStub } from "../../testing/kinds.ts"

/** Others write meanwhile. */
const slow: AdmissionPlugin = {
  async validate() {
    for (let turns = Math.random() * 4; turns > 0; turns--) await setImmediate()
  },
}

test("many writes of one object at once all succeed, however often each has to start again", async () => {
  await using kinds = createKindsStub({ plugins: [slow] })
  await kinds.create("configmaps", { metadata: { name: "a" } })
  const words = Array.from({ length: 80 }, (_, index) => `w${index}`).toSorted()
  await Promise.all(words.map((word) => kinds.patch("configmaps", "a", { data: { [word]: "" } })))
  const { data } = await kinds.get("configmaps", "a")
  expect(Object.keys(data as object).toSorted()).toEqual(words)
})
