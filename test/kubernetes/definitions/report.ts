// Differences with the field's definitions, run by hand: printed once per class, most frequent first.
//
//   node test/kubernetes/definitions/report.ts [--only REGEX] [--seed N] [--amount N] [--install]
//
// --only: sets by name. --amount: of all that is made, so many times as much as the suite makes. --install: no objects.

import { parseArgs } from "node:util"
import { seedOf } from "../../../apimachinery/testing/random.ts"
import { type Difference, printDifferences } from "../differential/compare.ts"
import { KnownDifferences, readKnown } from "../differential/known-differences.ts"
import { classOf } from "../differential/classes.ts"
import { describeStep, type Step } from "../differential/scenario.ts"
import { startServers } from "../differential/servers.ts"
import { readCollection } from "./collect.ts"
import { compareSet, knownDifferencesFile } from "./compare-set.ts"

interface Found {
  difference: Difference
  step: Step | undefined
}

const longestBody = 1500
const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    seed: { type: "string" },
    amount: { type: "string", default: "1" },
    install: { type: "boolean", default: false },
  },
})
const seed = seedOf(values.seed)
const collection = readCollection()
if (collection === undefined) throw new Error("npm run kubernetes:build -- definitions")
console.log(`seed ${seed}`)
await using servers = await startServers()
const known = new KnownDifferences(readKnown(knownDifferencesFile))
const classes = new Map<string, Found[]>()
for (const set of collection.sets.filter(({ name }) => new RegExp(values.only).test(name))) {
  const started = performance.now()
  let requests = 0
  const more = values.install ? { amount: 0 } : { amount: Number(values.amount) }
  const compared = compareSet(servers, set, collection, { seed, ...more, unknown: known.unknown.bind(known) })
  for await (const { scenario, differences } of compared) {
    requests += scenario.steps.length
    for (const difference of differences) {
      const name = classOf(difference)
      const step = scenario.steps.find((one) => describeStep(one) === difference.request)
      classes.set(name, [...(classes.get(name) ?? []), { difference, step }])
    }
  }
  console.log(
    `${set.name}: ${set.definitions.length} definitions, ${requests} requests, ${Math.round(performance.now() - started)} ms`,
  )
}
for (const found of [...classes.values()].toSorted((a, b) => b.length - a.length)) {
  const [first] = found
  if (first === undefined) continue
  const { difference, step } = first
  console.log(`${found.length} × ${difference.scenario}\n${printDifferences([difference])}`)
  if (step !== undefined && "body" in step) console.log(`    ${JSON.stringify(step.body).slice(0, longestBody)}`)
}
console.log(`${classes.size} classes of differences; ${known.summary()}`)
