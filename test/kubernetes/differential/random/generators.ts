// All that is made by chance: the same seed makes the same.

import { type Kind, kinds } from "../generate/objects.ts"
import type { Scenario } from "../scenario.ts"
import { randomCustomResourceScenario, randomDefinitionScenario } from "./definitions.ts"
import { randomEvictionScenario } from "./evictions.ts"
import { randomLifeScenario } from "./lives.ts"
import { randomPolicyScenario } from "./policies.ts"
import { randomReadScenario } from "./reads.ts"
import { randomScenario } from "./scenarios.ts"
import { randomVersionsScenario } from "./versions.ts"

export type Generator = (seed: number) => Scenario

/** Of what is no kind, or of several. */
export const generators: readonly Generator[] = [
  randomDefinitionScenario,
  randomCustomResourceScenario,
  randomVersionsScenario,
  randomEvictionScenario,
  randomPolicyScenario,
]

export function generatorsOf(kind: Kind): readonly Generator[] {
  return [randomScenario, randomLifeScenario, randomReadScenario].map((make) => (seed) => make(kind, seed))
}

/** By their titles, which are what the names of their scenarios begin with. */
export function generatorsNamed(only: RegExp): readonly Generator[] {
  const own = generators.filter((make) => only.test(make(0).name))
  return [...own, ...kinds().flatMap((kind) => generatorsOf(kind).filter((make) => only.test(make(0).name)))]
}
