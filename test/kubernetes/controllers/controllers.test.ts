// The same scenarios on a real kube-controller-manager and on ours: what is left, and what is told, is the same.

import { isDeepStrictEqual } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startControllers } from "../../../controllers/main.ts"
import { RangeServiceAddresses } from "../../../gateway/registry/core/services/addresses.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { createNodes, play as playOn } from "./play.ts"
import type { Scenario, Snapshot } from "./scenario.ts"
import { scenarios } from "./scenarios/index.ts"

/** Without its limits, so that what it tells does not come too late. */
const options = {
  controllerManager: true,
  controllerManagerFlags: ["--kube-api-qps=1000", "--kube-api-burst=2000"],
}
/** Scenarios played at the same time; each has a namespace of its own. */
const atOnce = 12
/** What is told depends on who is faster, in the real ones too: as often both are played before they are said to differ. */
const mostTimes = 3

interface Played {
  real: Snapshot
  ours: Snapshot
}

let play: (scenario: Scenario, time: number) => Promise<Played>
const played = new Map<string, Promise<Played>>()
const stack = new AsyncDisposableStack()
const only = process.env["SCENARIO"] === undefined ? undefined : new RegExp(process.env["SCENARIO"])
const chosen = scenarios.filter(({ name }) => only === undefined || only.test(name))

describe.skipIf(lacks(TestKubernetes.binaries(options)))(
  "our controllers and the real ones end up the same when a",
  () => {
    beforeAll(async () => {
      const kubernetes = stack.use(await TestKubernetes.start(options))
      const gateway = stack.use(await startTestGateway({ serviceAddresses: rangeAddresses }))
      await gateway.createTenant("a")
      const authority = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"
      stack.use(startControllers(gateway.gateway.tenants, { rootCertificateAuthority: authority }))
      const clients = [kubernetes.client, gateway.gateway.tenants.client("a")] as const
      const ending = new AbortController()
      stack.defer(() => ending.abort())
      await Promise.all(clients.map((client) => createNodes(client, ending.signal)))
      play = async (scenario, time) => {
        const [real, ours] = await Promise.all(clients.map((client) => playOn(client, scenario, time)))
        return { real: real as Snapshot, ours: ours as Snapshot }
      }
      begin()
    })

    afterAll(() => stack.disposeAsync())

    test.each(chosen.map((scenario): [string, Scenario] => [scenario.name, scenario]))(
      "%s",
      async (name, scenario) => {
        let { real, ours } = await (played.get(name) as Promise<Played>)
        for (let time = 2; time <= mostTimes && !isDeepStrictEqual(ours, real); time++) {
          console.log(`${name}: is played once more\n${differences(ours, real)}`)
          ;({ real, ours } = await play(scenario, time))
        }
        expect(ours).toEqual(real)
      },
      300_000,
    )
  },
)

/** Lines that only one of them has. */
function differences(ours: Snapshot, real: Snapshot): string {
  const lines = (of: Snapshot): string[] => JSON.stringify(of, null, 1).split("\n")
  const missing = (from: string[], sign: string, lacking: readonly string[]): string[] =>
    from.filter((line) => !lacking.includes(line)).map((line) => `${sign} ${line.trim()}`)
  return [...missing(lines(real), "-", lines(ours)), ...missing(lines(ours), "+", lines(real))].join("\n")
}

/** As a super cluster of our own gives them. */
function rangeAddresses(): RangeServiceAddresses {
  return new RangeServiceAddresses({ cidr: "10.96.0.0/16", load: async () => [] })
}

/** All are begun; the tests wait for each. */
function begin(): void {
  const turns = Array.from({ length: atOnce }, () => Promise.resolve())
  for (const [index, scenario] of chosen.entries()) {
    const playing = (turns[index % atOnce] as Promise<void>).then(() => play(scenario, 1))
    turns[index % atOnce] = playing.then(
      () => undefined,
      () => undefined, // its test tells
    )
    played.set(scenario.name, playing)
  }
}
