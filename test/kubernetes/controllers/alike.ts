// A suite of scenarios, each played on a real kube-controller-manager and on ours: the final objects and events are the same.

import { isDeepStrictEqual } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { differences, kubernetesOptions, type Played, type SidesOptions } from "./both-sides.ts"
import { Places } from "./places.ts"
import type { Scenario } from "./scenario.ts"

/** Events depend on timing, in the real controllers, too: the number of attempts before a difference is reported. */
const mostTimes = 3

interface SuiteOptions extends SidesOptions {
  /** Scenarios played at the same time on both clusters; each has a namespace of its own. */
  atOnce?: number
  /** Pairs of clusters, among which the scenarios are divided. */
  pairs?: number
  /** Needed besides those of a cluster. */
  programs?: readonly string[]
}

/** SCENARIO=PATTERN chooses. */
export function endUpAlike(
  title: string,
  scenarios: readonly Scenario[],
  { atOnce = 24, pairs = 1, programs = [], ...options }: SuiteOptions = {},
): void {
  const only = process.env["SCENARIO"] === undefined ? undefined : new RegExp(process.env["SCENARIO"])
  const chosen = scenarios.filter(({ name }) => only === undefined || only.test(name))
  let played: ReadonlyMap<Scenario, Promise<Played>> = new Map()
  let places: Places | undefined

  describe.skipIf(chosen.length === 0 || lacks([...TestKubernetes.binaries(kubernetesOptions), ...programs]))(
    title,
    () => {
      // oxlint-disable-next-line no-empty-pattern -- vitest looks at the pattern for what it is to prepare
      beforeAll(async ({}, { tasks }) => {
        const running = chosen.filter((_scenario, index) => tasks[index]?.mode !== "skip")
        places = await Places.start({ pairs: Math.min(pairs, running.length), atOnce }, options)
        played = begin(places, running)
      })

      afterAll(() => places?.[Symbol.asyncDispose]())

      test.each(chosen.map((scenario): [string, Scenario] => [scenario.name, scenario]))(
        "%s",
        { tags: "independent", timeout: 300_000 },
        async (name, scenario) => {
          let last = await (played.get(scenario) as Promise<Played>)
          for (let time = 2; time <= mostTimes && !isDeepStrictEqual(last.ours, last.real); time++) {
            console.log(`${name}: is played once more\n${differences(last)}`)
            last = await (places as Places).play(scenario, time)
          }
          expect(last.ours).toEqual(last.real)
        },
      )
    },
  )
}

/** All are begun; the tests wait for each. */
function begin(places: Places, scenarios: readonly Scenario[]): Map<Scenario, Promise<Played>> {
  const played = new Map<Scenario, Promise<Played>>()
  for (const scenario of scenarios) {
    const playing = places.play(scenario, 1)
    playing.catch(() => undefined) // reported by its test
    played.set(scenario, playing)
  }
  return played
}
