// A real kube-controller-manager and ours, with the same nodes, on which the same scenarios are played.

import { startControllers } from "../../../controllers/main.ts"
import { RangeServiceAddresses } from "../../../gateway/registry/core/services/addresses.ts"
import { createCertificateSigner } from "../../../gateway/tenancy/certificate-signer.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { createNodes, play } from "./play.ts"
import type { Scenario, Snapshot } from "./scenario.ts"
import { Side } from "./side.ts"

/** Without its limits, so that what it tells does not come too late. */
export const kubernetesOptions = {
  controllerManager: true,
  controllerManagerFlags: ["--kube-api-qps=1000", "--kube-api-burst=2000"],
}

export interface Played {
  real: Snapshot
  ours: Snapshot
}

export interface BothSides extends AsyncDisposable {
  /** The `time`-th time: it has a namespace of its own. */
  play(scenario: Scenario, time: number): Promise<Played>
}

export async function startBothSides(): Promise<BothSides> {
  await using starting = new AsyncDisposableStack()
  const kubernetes = starting.use(await TestKubernetes.start(kubernetesOptions))
  const gateway = starting.use(await startTestGateway({ serviceAddresses: rangeAddresses }))
  await gateway.createTenant("a")
  const { tenants } = gateway.gateway
  const rootCertificateAuthority = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"
  starting.use(startControllers(tenants, { rootCertificateAuthority, signer: createCertificateSigner(tenants) }))
  const ending = new AbortController()
  starting.defer(() => ending.abort())
  const sides = await Promise.all(
    [kubernetes.client, tenants.client("a")].map(async (client) => {
      await createNodes(client, ending.signal)
      return Side.start(client, ending.signal)
    }),
  )
  const stack = starting.move()
  return {
    async play(scenario, time) {
      const [real, ours] = await Promise.all(sides.map((side) => play(side, scenario, time)))
      return { real: real as Snapshot, ours: ours as Snapshot }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** As a super cluster of our own gives them. */
function rangeAddresses(): RangeServiceAddresses {
  return new RangeServiceAddresses({ cidr: "10.96.0.0/16", load: async () => [] })
}

/** Lines that only one of them has: "-" the real one, "+" ours. */
export function differences({ real, ours }: Played): string {
  const lines = (of: Snapshot): string[] => JSON.stringify(of, null, 1).split("\n")
  const missing = (from: string[], sign: string, lacking: readonly string[]): string[] =>
    from.filter((line) => !lacking.includes(line)).map((line) => `${sign} ${line.trim()}`)
  return [...missing(lines(real), "-", lines(ours)), ...missing(lines(ours), "+", lines(real))].join("\n")
}
