// Every scenario against both servers; its name is what both do alike.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { lacks } from "../harness/needs.ts"
import { printDifferences } from "./compare.ts"
import { compareScenario } from "./differential.ts"
import { KnownDifferences } from "./known-differences.ts"
import { scenarioGroups } from "./scenarios.ts"
import { type Servers, startServers } from "./servers.ts"

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

  for (const { name, scenarios } of groups) {
    describe(name, () => {
      test.concurrent.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
        "%s",
        async (_, scenario) => {
          const differences = known.unknown(await compareScenario(servers, scenario))
          compared++
          if (differences.length > 0) throw new Error(printDifferences(differences))
        },
      )
    })
  }

  test("every known difference is still one", ({ skip }) => {
    skip(compared < total, "only some scenarios ran")
    expect(known.unused()).toEqual([])
  })
})
