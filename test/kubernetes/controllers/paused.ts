// Random scenarios by hand, of which the last steps are taken while neither of the controllers runs: what is different after these have
// started again is reported. Events are not compared: what is told twice is left to chance. So is, of what is changed and then orphaned in the
// pause, whether the change reaches its dependents before: look at what was done.
//
//   node test/kubernetes/controllers/paused.ts [--seed N] [--families REGEX] [--rounds N]
//
// Each round is of all families, with the next seed.

import { isDeepStrictEqual, parseArgs } from "node:util"
import { errorMessage } from "../../../apimachinery/error-message.ts"
import { seedOf } from "../../../apimachinery/testing/random.ts"
import { differences, type Played, startBothSides } from "./both-sides.ts"
import { familyNames, randomScenario } from "./random/index.ts"
import type { Scenario, Step } from "./scenario.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    families: { type: "string", default: "" },
    rounds: { type: "string", default: "1" },
  },
})
const seed = seedOf(values.seed)
const only = new RegExp(values.families)
const chosen = familyNames.filter((family) => only.test(family))
console.log(`seed ${seed}`)
await using sides = await startBothSides({ metrics: true })
let different = 0
for (let round = 0; round < Number(values.rounds); round++) {
  const all = chosen.map((family) => randomScenario(family, seed + round))
  const failed = new Map<Scenario, string>()
  const each = (what: (scenario: Scenario) => Promise<unknown>): Promise<unknown> =>
    Promise.all(
      all.map(async (scenario) => {
        if (!failed.has(scenario))
          await what(scenario).catch((error: unknown) => failed.set(scenario, errorMessage(error)))
      }),
    )
  await each((scenario) => sides.play({ ...scenario, steps: parted(scenario)[0] }, round))
  await sides.pause()
  await each((scenario) => sides.takeMeanwhile(scenario, round, parted(scenario)[1]))
  await sides.resume()
  await each(async (scenario) => {
    const played = await sides.play({ ...scenario, before: [], steps: [] }, round)
    const [real, ours] = [played.real, played.ours].map((snapshot) => ({ ...snapshot, events: [], cut: [] }))
    if (!isDeepStrictEqual(real, ours)) failed.set(scenario, differences({ real, ours } as Played))
  })
  for (const [scenario, difference] of failed) {
    different++
    const [first, last] = parted(scenario)
    const print = (steps: readonly Step[]): string => steps.map((step) => `  ${JSON.stringify(step)}\n`).join("")
    console.log(`${scenario.name}\n${print(first)}  -- paused\n${print(last)}${difference}\n`)
  }
}
console.log(`${different} differ`)
process.exitCode = different === 0 ? 0 : 1

/** Before the pause, and in it, where nothing is waited for. */
function parted({ steps }: Scenario): [Step[], Step[]] {
  const acts = (step: Step): boolean =>
    !["settle", "until", "usage", "custom", "queue", "beats"].some((key) => key in step)
  const middle = Math.ceil(steps.length / 2)
  return [steps.slice(0, middle), steps.slice(middle).filter(acts)]
}
