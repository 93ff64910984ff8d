// The same scenarios on a real kube-controller-manager and on ours: what is left, and what is told, is the same.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { KubeClient } from "../../../client/rest.ts"
import { startControllers } from "../../../controllers/main.ts"
import { RangeServiceAddresses } from "../../../gateway/registry/core/services/addresses.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { createNodes, play } from "./play.ts"
import type { Scenario, Snapshot } from "./scenario.ts"
import { scenarios } from "./scenarios.ts"

/** Without its limits, so that what it tells does not come too late. */
const options = {
  controllerManager: true,
  controllerManagerFlags: ["--kube-api-qps=1000", "--kube-api-burst=2000"],
}
/** Scenarios played at the same time; each has a namespace of its own. */
const atOnce = 12

interface Played {
  real: Promise<Snapshot>
  ours: Promise<Snapshot>
}

const played = new Map<string, Played>()
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
      begin(...clients)
    })

    afterAll(() => stack.disposeAsync())

    test.each(chosen.map((scenario): [string, Scenario] => [scenario.name, scenario]))(
      "%s",
      async (name) => {
        const { real, ours } = played.get(name) as Played
        const [wanted, found] = await Promise.all([real, ours])
        expect(found).toEqual(wanted)
      },
      300_000,
    )
  },
)

/** As a super cluster of our own gives them. */
function rangeAddresses(): RangeServiceAddresses {
  return new RangeServiceAddresses({ cidr: "10.96.0.0/16", load: async () => [] })
}

/** All are begun; the tests wait for each. */
function begin(real: KubeClient, ours: KubeClient): void {
  const turns = Array.from({ length: atOnce }, () => Promise.resolve())
  for (const [index, scenario] of chosen.entries()) {
    const turn = turns[index % atOnce] as Promise<void>
    const both = { real: turn.then(() => play(real, scenario)), ours: turn.then(() => play(ours, scenario)) }
    turns[index % atOnce] = Promise.allSettled([both.real, both.ours]).then(() => undefined)
    played.set(scenario.name, both)
  }
}
