// Runs scenarios on both servers at the same time and compares them.

import { compareTranscripts, type Difference, printDifferences } from "./compare.ts"
import { normalize } from "./normalize.ts"
import { type Place, type Running, type RunOptions, runSteps, until } from "./run.ts"
import type { Scenario } from "./scenario.ts"
import type { Servers } from "./servers.ts"

/**
 * A scenario with a difference is repeated up to this many times, because some of upstream's behaviour is random or depends on
 * timing.
 */
export const mostTimes = 3

/** How long to wait until the slower server has sent the events that the other has sent. */
const watchPatienceMs = 3000
/** Both have sent the same events this often in a row: surplus ones arrive meanwhile, and those for which both are late. */
const settledLooks = 5

/** Identifies this run, so that a server can be used repeatedly. */
const run = Date.now().toString(36).slice(-5)
let count = 0
const firstNumber = 0x1000

export function nextPlace(): Place {
  count++
  const id = `${run}n${count}n`
  return { id, namespace: `d-${id}`, number: (firstNumber + count).toString(16) }
}

export async function compareScenario(
  servers: Servers,
  scenario: Scenario,
  options: RunOptions = {},
): Promise<Difference[]> {
  const place = nextPlace()
  const [kubernetes, polyplane] = await Promise.all([
    runSteps(servers.kubernetes, scenario, place, options),
    runSteps(servers.polyplane, scenario, place, options),
  ])
  try {
    if (kubernetes.watched().length > 0) await until(settled(kubernetes, polyplane), watchPatienceMs)
  } finally {
    kubernetes.close()
    polyplane.close()
  }
  const [theirs, ours] = normalize([kubernetes.transcript, polyplane.transcript])
  return compareTranscripts(scenario, theirs ?? [], ours ?? [])
}

function settled(kubernetes: Running, polyplane: Running): () => boolean {
  let last = ""
  let looks = 0
  return () => {
    const [theirs, ours] = [kubernetes, polyplane].map((one) => String(one.watched()))
    looks = theirs === ours && theirs === last ? looks + 1 : 0
    last = theirs ?? ""
    return looks >= settledLooks
  }
}

/** Returns what differs in the last of these times; nothing if the servers were alike in one of them. */
export async function differencesEachTime(
  name: string,
  compare: () => Promise<Difference[]>,
): Promise<readonly Difference[]> {
  let differences: Difference[] = []
  for (let time = 1; time <= mostTimes; time++) {
    differences = await compare()
    if (differences.length === 0) break
    console.log(`${name}: differs, time ${time} of ${mostTimes}\n${printDifferences(differences)}`)
  }
  return differences
}

export async function expectAlike(name: string, compare: () => Promise<Difference[]>): Promise<void> {
  const differences = await differencesEachTime(name, compare)
  if (differences.length > 0) throw new Error(printDifferences(differences))
}
