// Random scenarios by hand: what a seed makes is played on both sides; what differs each time it is played is reported.
//
//   node test/kubernetes/controllers/random.ts [--seed N] [--families REGEX] [--rounds N] [--dual-stack] [--left-over]
//
// --families: of random/index.ts, such as "Deployment|Job". --rounds: scenarios per family, each with the next seed. --dual-stack:
// Services may have addresses of IPv6. --left-over: those that the controllers find when they start, once. A Job's pods that fail are made again after ten seconds and more, so that what is there at a
// step's end is left to chance: look at the events.

import { isDeepStrictEqual, parseArgs } from "node:util"
import { errorMessage } from "../../../apimachinery/error-message.ts"
import { seedOf } from "../../../apimachinery/testing/random.ts"
import { type BothSides, differences, startBothSides } from "./both-sides.ts"
import { familyNames, leftOverFamilyNames, randomScenario } from "./random/index.ts"
import type { Scenario } from "./scenario.ts"
import { limits } from "./scenarios/left-over.ts"

const atOnce = 24
const times = 3

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    families: { type: "string", default: "" },
    rounds: { type: "string", default: "10" },
    "dual-stack": { type: "boolean", default: false },
    "left-over": { type: "boolean", default: false },
  },
})
const seed = seedOf(values.seed)
const only = new RegExp(values.families)
const isLeftOver = values["left-over"]
const chosen = (isLeftOver ? leftOverFamilyNames : familyNames).filter((family) => only.test(family))
const all = Array.from({ length: Number(values.rounds) }, (_, round) =>
  chosen.map((family) => randomScenario(family, seed + round)),
).flat()
console.log(`seed ${seed}, ${all.length} scenarios`)
await using sides = await startBothSides({ metrics: true, dualStack: values["dual-stack"] })
if (isLeftOver) {
  await Promise.all(all.map((scenario) => sides.prepare(scenario)))
  await sides.restart(limits)
}
let different = 0
const left = all.values()
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (const scenario of left) if (!(await isAlike(sides, scenario))) different++
  }),
)
console.log(`${all.length} scenarios, ${different} differ`)
process.exitCode = different === 0 ? 0 : 1

async function isAlike(both: BothSides, scenario: Scenario): Promise<boolean> {
  for (let time = 1; ; time++) {
    const difference = await played(both, scenario, time)
    if (difference === undefined) return true
    if (time < times && !isLeftOver) continue
    console.log(`${scenario.name}\n${scenario.steps.map((step) => `  ${JSON.stringify(step)}`).join("\n")}`)
    console.log(`${difference}\n`)
    return false
  }
}

/** What differs: also that it could not be played. */
async function played(both: BothSides, scenario: Scenario, time: number): Promise<string | undefined> {
  try {
    const result = await both.play(scenario, time)
    return isDeepStrictEqual(result.ours, result.real) ? undefined : differences(result)
  } catch (error) {
    return errorMessage(error)
  }
}
