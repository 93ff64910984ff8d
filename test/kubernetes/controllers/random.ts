// Random scenarios by hand: what a seed makes is played on both sides; what differs each time it is played is told.
//
//   node test/kubernetes/controllers/random.ts [--seed N] [--kinds REGEX] [--rounds N]
//
// --kinds: "Deployment|Job". --rounds: scenarios per kind, each with the next seed. A Job's pods that fail are made again after ten
// seconds and more, so that what is there at a step's end is left to chance: look at the events.

import { isDeepStrictEqual, parseArgs } from "node:util"
import { seedOf } from "../../../apimachinery/testing/random.ts"
import { type BothSides, differences, startBothSides } from "./both-sides.ts"
import { randomKinds, randomScenario } from "./random-scenarios.ts"
import type { Scenario } from "./scenario.ts"

const atOnce = 16
const times = 3

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    kinds: { type: "string", default: "" },
    rounds: { type: "string", default: "10" },
  },
})
const seed = seedOf(values.seed)
const only = new RegExp(values.kinds)
const kinds = randomKinds.filter((kind) => only.test(kind))
const all = Array.from({ length: Number(values.rounds) }, (_, round) =>
  kinds.map((kind) => randomScenario(kind, seed + round)),
).flat()
console.log(`seed ${seed}, ${all.length} scenarios`)
await using sides = await startBothSides()
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
    const played = await both.play(scenario, time)
    if (isDeepStrictEqual(played.ours, played.real)) return true
    if (time < times) continue
    console.log(`${scenario.name}\n${scenario.steps.map((step) => `  ${JSON.stringify(step)}`).join("\n")}`)
    console.log(`${differences(played)}\n`)
    return false
  }
}
