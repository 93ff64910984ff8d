// Sends random requests, run manually: requests for every kind, derived from a seed, go to both servers. Differences are
// minimized and reported once per class.
//
//   node test/kubernetes/differential/random.ts [--seed N] [--kinds REGEX] [--rounds N] [--seconds N]
//
// --kinds: matches the beginning of scenario names ("v1 Pod", "a custom resource", "reads"). --rounds: number of scenarios of
// each, with consecutive seeds. --seconds: starts no more scenarios after that time.

import { parseArgs } from "node:util"
import { seedOf } from "../../../apimachinery/testing/random.ts"
import { classOf } from "./classes.ts"
import { type Difference, printDifferences } from "./compare.ts"
import { compareScenario } from "./differential.ts"
import { KnownDifferences } from "./known-differences.ts"
import { generatorsNamed } from "./random/generators.ts"
import { shrink } from "./random/shrink.ts"
import type { Scenario } from "./scenario.ts"
import { type Servers, startServers } from "./servers.ts"

const parallel = 3
/** Random behaviour of upstream does not differ each time. */
const times = 3

interface Found {
  scenario: Scenario
  difference: Difference
  count: number
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string" },
      kinds: { type: "string", default: "" },
      rounds: { type: "string", default: "1" },
      seconds: { type: "string", default: "3600" },
    },
  })
  const seed = seedOf(values.seed)
  const only = new RegExp(values.kinds)
  const rounds = Number(values.rounds)
  const chosen = generatorsNamed(only)
  const left = Array.from({ length: rounds }, (_, round) => chosen.map((make) => make(seed + round))).flat()
  console.log(`seed ${seed}, ${rounds} rounds of ${chosen.length} generators`)
  await using servers = await startServers()
  const deadline = Date.now() + Number(values.seconds) * 1000
  const found = new Map<string, Found>()
  let requests = 0
  let scenarios = 0
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined && Date.now() < deadline; next = left.shift()) {
      scenarios++
      requests += next.steps.length
      // A response that is late because the machine is busy cannot be compared.
      await tell(servers, next, found).catch((error: unknown) => console.log(`FAILED ${next.name}: ${String(error)}`))
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
  for (const { count, difference } of [...found.values()].toSorted((a, b) => b.count - a.count)) {
    console.log(`${count} × ${difference.scenario}: ${difference.at}`)
  }
  console.log(`${scenarios} scenarios, ${requests} requests, ${found.size} classes of differences`)
}

async function tell(servers: Servers, scenario: Scenario, found: Map<string, Found>): Promise<void> {
  for (const [name, difference] of await differencesOf(servers, scenario)) {
    const known = found.get(name)
    if (known !== undefined) known.count++
    if (known !== undefined) continue
    const one: Found = { scenario, difference, count: 1 }
    found.set(name, one)
    const differs = async (smaller: Scenario): Promise<boolean> => (await differencesOf(servers, smaller)).has(name)
    let always = true
    for (let time = 1; time < times && always; time++) always = await differs(scenario)
    if (!always) {
      found.delete(name)
      continue
    }
    one.scenario = await shrink(scenario, difference.request, differs)
    one.difference = (await differencesOf(servers, one.scenario)).get(name) ?? difference
    console.log(
      `${scenario.name}\n${one.scenario.steps.map(printStep).join("\n")}\n${printDifferences([one.difference])}\n`,
    )
  }
}

const knownDifferences = new KnownDifferences()

async function differencesOf(servers: Servers, scenario: Scenario): Promise<Map<string, Difference>> {
  const differences = knownDifferences.unknown(await compareScenario(servers, scenario))
  // The last difference of a request is in its body, which is more informative than a missing header.
  const ofRequests = new Map(differences.map((difference) => [difference.request, difference]))
  return new Map([...ofRequests.values()].map((difference) => [classOf(difference), difference]))
}

const longest = 600

function printStep(step: Scenario["steps"][number]): string {
  const text = JSON.stringify({ ...step, label: undefined })
  return `  ${text.length > longest ? `${text.slice(0, longest)}… (${text.length})` : text}`
}

await main()
