// One set of the field's definitions on both servers: installed, then objects of each kind, several kinds at a time.

import type { Difference } from "../differential/compare.ts"
import { compareScenario, differencesEachTime } from "../differential/differential.ts"
import type { Scenario } from "../differential/scenario.ts"
import type { Servers } from "../differential/servers.ts"
import type { Collection, DefinitionSet } from "./collect.ts"
import { type Amounts, installation, objectsOf } from "./scenarios.ts"

export const knownDifferencesFile = new URL("known-differences.yaml", import.meta.url)

const parallel = 4
const most: Amounts = { samples: 8, objects: 4, mistakes: 10, updates: 3 }

interface Compared {
  scenario: Scenario
  /** That are not known. */
  differences: readonly Difference[]
}

interface Options {
  seed: number
  /** Of {@link most}; 0: they are installed only. */
  amount: number
  unknown: (differences: readonly Difference[]) => Difference[]
}

export async function* compareSet(
  servers: Servers,
  set: DefinitionSet,
  collection: Collection,
  { seed, amount, unknown }: Options,
): AsyncGenerator<Compared> {
  const compare = async (scenario: Scenario): Promise<Compared> => {
    const once = async (): Promise<Difference[]> => unknown(await compareScenario(servers, scenario))
    return { scenario, differences: await differencesEachTime(scenario.name, once) }
  }
  yield await compare(installation(set))
  if (amount === 0) return
  const amounts = Object.fromEntries(
    Object.entries(most).map(([name, count]) => [name, Math.ceil(count * amount)]),
  ) as unknown as Amounts
  const scenarios = set.definitions.map((definition) => objectsOf(set, definition, collection, amounts, seed))
  for (let from = 0; from < scenarios.length; from += parallel) {
    yield* await Promise.all(scenarios.slice(from, from + parallel).map(compare))
  }
}
