// Random writes that random webhooks are called for, and random answers of webhooks, run manually: differences are printed, of each class
// once.
//
//   node test/kubernetes/differential/random-webhooks.ts [--seed N] [--kinds REGEX] [--rounds N] [--seconds N]
//
// --kinds: matches the beginning of scenario names ("webhooks", "answers", "plugins", "kinds", "forms").

import { parseArgs } from "node:util"
import { seedOf } from "../../../apimachinery/testing/random.ts"
import { Audits } from "./audits.ts"
import { classOf } from "./classes.ts"
import { type Difference, printDifferences } from "./compare.ts"
import { startConversionWebhook } from "./conversions/webhook.ts"
import { KnownDifferences, readKnown } from "./known-differences.ts"
import { startServers } from "./servers.ts"
import { compareHooked, HookedServer } from "./webhooks/hooks.ts"
import { randomWebhookScenario } from "./webhooks/random.ts"
import { randomAnswerScenario } from "./webhooks/random-answers.ts"
import { randomFormHookScenario } from "./webhooks/random-forms.ts"
import { randomKindHookScenario } from "./webhooks/random-kinds.ts"
import { randomPluginScenario } from "./webhooks/random-plugins.ts"

/** Random behaviour of upstream does not differ each time. */
const times = 3

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    kinds: { type: "string", default: "" },
    rounds: { type: "string", default: "10" },
    seconds: { type: "string", default: "3600" },
  },
})
const seed = seedOf(values.seed)
const deadline = Date.now() + Number(values.seconds) * 1000
const known = new KnownDifferences(readKnown(new URL("webhooks/known-differences.yaml", import.meta.url)))
const audits = new Audits()
await using conversion = await startConversionWebhook()
await using servers = await startServers({ audits })
await using kubernetes = await HookedServer.start(servers.kubernetes, audits)
await using polyplane = await HookedServer.start(servers.polyplane, audits)
const only = new RegExp(values.kinds)
const generators = [
  (of: number) => randomWebhookScenario(conversion, of),
  randomAnswerScenario,
  randomPluginScenario,
  randomKindHookScenario,
  randomFormHookScenario,
].filter((make) => only.test(make(0).name))
console.log(`seed ${seed}, ${values.rounds} rounds of ${generators.length} generators`)
const counts = new Map<string, number>()
const scenarios = Array.from({ length: Number(values.rounds) }, (_, round) =>
  generators.map((make) => make(seed + round)),
).flat()
let rounds = 0
for (const scenario of scenarios) {
  if (Date.now() >= deadline) break
  rounds++
  let found: Difference[] = []
  for (let time = 0; time < times; time++) {
    found = known.unknown(await compareHooked([kubernetes, polyplane], scenario))
    if (found.length === 0) break
  }
  for (const difference of found) {
    const name = classOf(difference)
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if (counts.get(name) === 1) console.log(`${scenario.name}\n${printDifferences([difference])}\n`)
  }
}
console.log(`${rounds} scenarios, ${counts.size} classes of differences`)
