// A suite of scenarios, each played on a real kube-controller-manager and on ours: the final objects and events are the same.

import { isDeepStrictEqual } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { Semaphore } from "../../../gateway/tenancy/semaphore.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import {
  type BothSides,
  differences,
  kubernetesOptions,
  type Played,
  type SidesOptions,
  startBothSides,
} from "./both-sides.ts"
import type { Scenario } from "./scenario.ts"

/** Scenarios played at the same time; each has a namespace of its own. */
const usuallyAtOnce = 24
/** Events depend on timing, in the real controllers, too: the number of attempts before a difference is reported. */
const mostTimes = 3

/** SCENARIO=PATTERN chooses. */
export function endUpAlike(
  title: string,
  scenarios: readonly Scenario[],
  { atOnce = usuallyAtOnce, ...options }: SidesOptions & { atOnce?: number } = {},
): void {
  const only = process.env["SCENARIO"] === undefined ? undefined : new RegExp(process.env["SCENARIO"])
  const chosen = scenarios.filter(({ name }) => only === undefined || only.test(name))
  const turns = new Semaphore(atOnce)
  let played: ReadonlyMap<string, Promise<Played>> = new Map()
  let sides: BothSides | undefined

  describe.skipIf(chosen.length === 0 || lacks(TestKubernetes.binaries(kubernetesOptions)))(title, () => {
    beforeAll(async () => {
      sides = await startBothSides(options)
      played = begin(sides, chosen, turns)
    })

    afterAll(() => sides?.[Symbol.asyncDispose]())

    test.each(chosen.map((scenario): [string, Scenario] => [scenario.name, scenario]))(
      "%s",
      async (name, scenario) => {
        let last = await (played.get(name) as Promise<Played>)
        for (let time = 2; time <= mostTimes && !isDeepStrictEqual(last.ours, last.real); time++) {
          console.log(`${name}: is played once more\n${differences(last)}`)
          const again = time
          last = await turns.run(() => (sides as BothSides).play(scenario, again), { first: true })
        }
        expect(last.ours).toEqual(last.real)
      },
      300_000,
    )
  })
}

/** All are begun; the tests wait for each. */
function begin(both: BothSides, scenarios: readonly Scenario[], turns: Semaphore): Map<string, Promise<Played>> {
  const played = new Map<string, Promise<Played>>()
  for (const scenario of scenarios) {
    const playing = turns.run(() => both.play(scenario, 1))
    playing.catch(() => undefined) // reported by its test
    played.set(scenario.name, playing)
  }
  return played
}
