// Definitions that people install, and objects of their kinds: a tenant answers as kube-apiserver does. Of every set some, chosen by
// `telling`; POLYPLANE_DEFINITIONS=all takes all, for half an hour. SEED repeats what another run made.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { printDifferences } from "../differential/compare.ts"
import { KnownDifferences, readKnown } from "../differential/known-differences.ts"
import { type Servers, startServers } from "../differential/servers.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { missingCollection, readCollection } from "./collect.ts"
import { compareSet, knownDifferencesFile } from "./compare-set.ts"
import { removal, telling } from "./scenarios.ts"
import { compareScenario } from "../differential/differential.ts"

const isAll = process.env["POLYPLANE_DEFINITIONS"] === "all"
const seed = Number(process.env["SEED"] ?? 1)
/** Large definitions take a real server seconds each. */
const timeout = 10 * 60_000

const collection = readCollection() ?? { hash: "", sets: [], samples: {} }
const sets = isAll ? collection.sets : collection.sets.map(telling)

describe.skipIf(lacks(TestKubernetes.binaries(), missingCollection()))(`with seed ${seed}, a tenant serves`, () => {
  const known = new KnownDifferences(readKnown(knownDifferencesFile))
  let servers: Servers

  beforeAll(async () => {
    servers = await startServers()
  })
  afterAll(async () => {
    await servers[Symbol.asyncDispose]()
    console.log(known.summary())
  })

  test.each(sets.map((set) => [set.name, set] as const))("what %s defines", { timeout }, async (_, set) => {
    const options = { seed, amount: isAll ? 1 : 0.5, unknown: known.unknown.bind(known) }
    for await (const { differences } of compareSet(servers, set, collection, options)) {
      expect(printDifferences(differences)).toBe("")
    }
  })

  test("nothing more of a set that is removed", { timeout }, async () => {
    const [last] = sets.slice(-1)
    if (last === undefined) throw new Error("there are no sets")
    expect(printDifferences(known.unknown(await compareScenario(servers, removal(last))))).toBe("")
  })

  test("every known difference is still one", () => {
    expect(known.unused()).toEqual([])
  })
})
