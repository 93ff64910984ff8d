// The suite, run manually: prints all differences, the most frequent first.
//
//   node test/kubernetes/differential/report.ts [--only WORDS] [--full] [--all] [--prune]
//
// --only: scenarios whose name contains the words. --full: each difference, not only classes. --all: includes known ones.
// --prune: removes cases that no longer occur in the scenarios that ran from known-differences.yaml.

import { readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { parse } from "yaml"
import { classOf } from "./classes.ts"
import { type Difference, print, printDifferences } from "./compare.ts"
import { compareScenario } from "./differential.ts"
import { KnownDifferences, knownDifferencesFile } from "./known-differences.ts"
import { scenarioGroups } from "./scenarios.ts"
import type { Scenario } from "./scenario.ts"
import { startServers } from "./servers.ts"

const parallel = 6

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: "string", default: "" },
      full: { type: "boolean" },
      all: { type: "boolean" },
      prune: { type: "boolean" },
    },
  })
  const only = new RegExp(values.only)
  const scenarios = scenarioGroups()
    .flatMap((group) => group.scenarios)
    .filter(({ name }) => only.test(name))
  const steps = scenarios.reduce((sum, scenario) => sum + scenario.steps.length, 0)
  await using servers = await startServers()
  const started = Date.now()
  const known = new KnownDifferences()
  const differences: Difference[] = []
  const queue = [...scenarios]
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const found = await run(next)
      const unknown = known.unknown(found)
      differences.push(...(values.all === true ? found : unknown))
    }
  }
  const run = async (scenario: Scenario): Promise<Difference[]> => {
    try {
      return await compareScenario(servers, scenario)
    } catch (error) {
      console.log(`FAILED ${scenario.name}: ${String(error)}`)
      return []
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  if (values.full === true) {
    for (const scenario of scenarios) {
      const own = differences.filter((difference) => difference.scenario === scenario.name)
      if (own.length > 0) console.log(`${scenario.name}\n${printDifferences(own)}`)
    }
  } else printKinds(differences)
  const requests = new Set(differences.map(({ scenario, request }) => `${scenario}\n${request}`)).size
  if (values.prune === true) {
    const ran: ReadonlySet<string | undefined> = new Set(scenarios.map(({ name }) => name))
    prune(known.unusedCases().filter((name) => ran.has(name.split(" :: ")[0])))
  } else if (values.only === "") for (const entry of known.unused()) console.log(`nothing needed ${entry}`)
  console.log(known.summary())
  console.log(
    `${scenarios.length} scenarios, ${steps} requests in ${seconds} s: ${requests} requests answered differently`,
  )
}

/** Each case is on a separate line. */
function prune(gone: readonly string[]): void {
  const names: ReadonlySet<unknown> = new Set(gone)
  const isGone = (line: string): boolean => /^ {4}- /.test(line) && names.has(parse(line.trim().slice(2)))
  const text = readFileSync(knownDifferencesFile, "utf8")
  writeFileSync(
    knownDifferencesFile,
    text
      .split("\n")
      .filter((line) => !isGone(line))
      .join("\n"),
  )
  console.log(`${gone.length} cases no longer occur`)
}

/** Prints differences grouped by class. */
function printKinds(differences: readonly Difference[]): void {
  const kinds = new Map<string, Difference[]>()
  for (const difference of differences) {
    const key = classOf(difference)
    kinds.set(key, [...(kinds.get(key) ?? []), difference])
  }
  for (const group of [...kinds.values()].toSorted((a, b) => b.length - a.length)) {
    const [first] = group
    if (first === undefined) continue
    console.log(`${group.length} × ${first.at}\n    ${first.scenario}: ${first.request}`)
    console.log(`    - ${print(first.kubernetes)}\n    + ${print(first.polyplane)}`)
  }
}

await main()
