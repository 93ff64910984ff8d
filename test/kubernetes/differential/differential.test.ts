// Runs every scenario against both servers; a scenario's name describes the common behaviour.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { lacks } from "../harness/needs.ts"
import { compareScenario, expectAlike, mostTimes } from "./differential.ts"
import { KnownDifferences } from "./known-differences.ts"
import type { Scenario } from "./scenario.ts"
import { scenarioGroups } from "./scenarios.ts"
import { type Servers, startServers } from "./servers.ts"

/** What a scenario with dear expressions takes on a machine that is busy with something else, as often as it may be repeated. */
const timeout = mostTimes * 120_000

const groups = scenarioGroups()
const total = groups.reduce((sum, { scenarios }) => sum + scenarios.length, 0)

describe.skipIf(lacks(TestKubernetes.binaries()))("a tenant answers as kube-apiserver does", () => {
  const known = new KnownDifferences()
  let servers: Servers
  let compared = 0

  beforeAll(async () => {
    servers = await startServers()
  })
  afterAll(async () => {
    await servers[Symbol.asyncDispose]()
    console.log(known.summary())
  })

  const compare = async (_: string, scenario: Scenario): Promise<void> => {
    compared++
    await expectAlike(scenario.name, async () => known.unknown(await compareScenario(servers, scenario)))
  }

  for (const { name, scenarios } of groups) {
    describe(name, { tags: "independent" }, () => {
      const isAlone = ({ alone }: Scenario): boolean => alone === true
      const named = (some: readonly Scenario[]) => some.map((scenario) => [scenario.name, scenario] as const)
      const together = scenarios.filter((scenario) => !isAlone(scenario))
      test.concurrent.each(named(together))("%s", { timeout }, compare)
      // After those that run at the same time.
      test.each(named(scenarios.filter(isAlone)))("%s", { timeout }, compare)
    })
  }

  test("every known difference is still one", { timeout: 60_000 }, async ({ skip }) => {
    skip(compared < total, "only some scenarios ran")
    for (let time = 2; time <= mostTimes && known.unusedCases().length > 0; time++) {
      const unused = new Set(known.unusedCases().map((name) => name.split(" :: ")[0]))
      const again = groups.flatMap(({ scenarios }) => scenarios).filter(({ name }) => unused.has(name))
      console.log(`once more, for what they are known to differ in: ${again.map(({ name }) => name).join(", ")}`)
      for (const scenario of again) known.unknown(await compareScenario(servers, scenario))
    }
    expect(known.unused()).toEqual([])
  })
})
