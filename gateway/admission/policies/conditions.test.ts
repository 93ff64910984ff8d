import { expect, test } from "vitest"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes } from "../chain.ts"
import type { Hook } from "../webhooks/configuration.ts"
import { meetsConditions } from "../webhooks/match-conditions.ts"
import type { Shown } from "../webhooks/review.ts"
import { evaluateMatchConditions } from "./conditions.ts"

test("a request that ends while conditions are compiled goes no further, also if failures are ignored", async () => {
  const matchConditions = ["1 == 1", "2 == 2", "3 == 3"].map((expression) => ({ name: "c", expression }))
  const hook = { webhook: { matchConditions, failurePolicy: "Ignore" } } as Partial<Hook> as Hook
  let turns = 0
  const ctx = {
    get isOver() {
      return turns > 1
    },
    pause: () => Promise.resolve().then(() => void turns++),
  } as Partial<RequestContext> as RequestContext
  const show = (): Promise<Shown> => Promise.resolve({} as Shown)
  const meets = meetsConditions(ctx, hook, {} as AdmissionAttributes, show, evaluateMatchConditions)
  await expect(meets).rejects.toThrow("request did not complete within requested timeout")
  expect(turns).toBe(2)
})
