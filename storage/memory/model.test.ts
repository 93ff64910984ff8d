import { test } from "vitest"
import { modelBase, modelLimits, runModel } from "../testing/store-model.ts"
import { createMemoryStore } from "./store.ts"

test.each([
  ["alone", undefined],
  ["on a base layer", modelBase],
] as const)("random operations have the results of a model, %s", async (_, base) => {
  const open = async () => createMemoryStore({ limits: modelLimits, ...(base ? { base } : {}) })
  await runModel({ base, open, inOrder: true, reopens: false })
})
