// What controllers do about what they find when they start, with limits that are soon reached: the same on a real
// kube-controller-manager and on ours.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { type BothSides, kubernetesOptions, type Played, startBothSides } from "./both-sides.ts"
import type { Scenario } from "./scenario.ts"
import { leftOverScenarios, limits } from "./scenarios/left-over.ts"

const only = process.env["SCENARIO"] === undefined ? undefined : new RegExp(process.env["SCENARIO"])
const chosen = leftOverScenarios.filter(({ name }) => only === undefined || only.test(name))
const played = new Map<string, Promise<Played>>()
let sides: BothSides | undefined

describe.skipIf(chosen.length === 0 || lacks(TestKubernetes.binaries(kubernetesOptions)))(
  "our controllers and the real ones end in the same state after a restart with",
  () => {
    beforeAll(async () => {
      const both = (sides = await startBothSides())
      // One after the other: they share nodes, whose labels some of them change.
      for (const scenario of chosen) await both.prepare(scenario)
      await both.restart(limits)
      for (const scenario of chosen) {
        const playing = both.play(scenario, 1)
        playing.catch(() => undefined) // reported by its test
        played.set(scenario.name, playing)
      }
    })

    afterAll(() => sides?.[Symbol.asyncDispose]())

    test.each(chosen.map((scenario): [string, Scenario] => [scenario.name, scenario]))(
      "%s",
      async (name) => {
        const { ours, real } = await (played.get(name) as Promise<Played>)
        expect(ours).toEqual(real)
      },
      300_000,
    )
  },
)
