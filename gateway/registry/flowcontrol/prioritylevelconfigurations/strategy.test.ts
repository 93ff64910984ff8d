import { expect, test } from "vitest"
import type { RequestContext } from "../../../request/context.ts"
import { priorityLevelConfigurations } from "./strategy.ts"

test("a hand of two billion cards is rejected at once", () => {
  const level = {
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "PriorityLevelConfiguration",
    metadata: { name: "a" },
    spec: {
      type: "Limited",
      limited: {
        limitResponse: {
          type: "Queue",
          queuing: { handSize: 2_000_000_000, queues: 2_000_000_000, queueLengthLimit: 1 },
        },
      },
    },
  }
  const started = performance.now()
  const errors = priorityLevelConfigurations.strategy?.validate?.({} as RequestContext, level as never) ?? []
  expect(errors.map(({ detail }) => detail)).toEqual([
    "must not be greater than 10000000",
    "required entropy bits of deckSize 2000000000 and handSize 2000000000 should not be greater than 60",
  ])
  expect(performance.now() - started).toBeLessThan(1000)
})
