// What a server keeps by itself: its own objects that clients delete or change. Upstream looks after some of them only every minute, so
// the scenarios run at the same time, on servers of their own.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { compareScenario, expectAlike, mostTimes } from "./differential.ts"
import { keptObjectScenarios } from "./kept-objects/scenarios.ts"
import { KnownDifferences, readKnown } from "./known-differences.ts"
import { type Servers, startServers } from "./servers.ts"

/** Upstream's longest interval, and what the change takes on a machine that is busy with something else. */
const patienceMs = 180_000
/** What the longest scenario takes, as often as it may be repeated. */
const timeout = mostTimes * 200_000
/** Not on this machine. */
const address = "198.51.100.7"

describe.skipIf(lacks(TestKubernetes.binaries()))("a server keeps its own objects:", () => {
  const known = new KnownDifferences(readKnown(new URL("kept-objects/known-differences.yaml", import.meta.url)))
  const scenarios = keptObjectScenarios()
  let servers: Servers
  let outcomes: Promise<void>[]

  beforeAll(async () => {
    servers = await startServers({ address })
    outcomes = scenarios.map((scenario) =>
      expectAlike(scenario.name, async () => known.unknown(await compareScenario(servers, scenario, { patienceMs }))),
    )
    void Promise.allSettled(outcomes)
  })
  afterAll(() => servers?.[Symbol.asyncDispose]())

  const all = scenarios.map(({ name }, index) => [name, index] as const)
  test.each(all)("%s", { timeout }, async (_, index) => {
    await outcomes[index]
  })

  test("every known difference is still one", () => {
    expect(known.unused()).toEqual([])
  })
})
