// A real kube-controller-manager and ours, with the same nodes, on which the same scenarios are played.

import { writeFile } from "node:fs/promises"
import { setTimeout as delay } from "node:timers/promises"
import { startControllers, type ControllersOptions } from "../../../controllers/main.ts"
import { createHttpClient } from "../../../client/http/client.ts"
import { RangeServiceAddresses } from "../../../gateway/registry/core/services/addresses.ts"
import { createCertificateSigner } from "../../../gateway/tenancy/certificate-signer.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { aggregatingFlags, allowedNetworks, Wardle } from "../aggregated/wardle.ts"
import { defineThings } from "./custom-kinds.ts"
import { CustomMetrics } from "./custom-metrics.ts"
import { withoutCut } from "./cut-events.ts"
import { DualStackAddresses, dualStackFlags } from "./dual-stack-addresses.ts"
import { kindsWithAggregated } from "./kinds.ts"
import { serveMetrics } from "./metrics.ts"
import { createNodes, Heartbeats } from "./nodes.ts"
import { OwnRanges } from "./own-ranges.ts"
import { play, prepare, takeMeanwhile } from "./play.ts"
import type { Scenario, Snapshot, Step } from "./scenario.ts"
import { Side } from "./side.ts"

/** Upstream looks at some things every 20 s, the first time after that. */
const lookMs = 35_000

/** Without its limits, so that its events are not delayed. */
export const kubernetesOptions = {
  controllerManager: true,
  controllerManagerFlags: ["--kube-api-qps=1000", "--kube-api-burst=2000"],
}

/** The arguments of both after a restart. */
interface Limits {
  flags: readonly string[]
  /** So long after their start all of the real controllers have begun. */
  beginsMs: number
  limits: NonNullable<ControllersOptions["limits"]>
}

export interface Played {
  real: Snapshot
  ours: Snapshot
}

export interface BothSides extends AsyncDisposable {
  /** Steps before the controllers are restarted. */
  prepare(scenario: Scenario): Promise<void>
  /** kube-apiserver too: it has controllers of its own. */
  restart(limits: Limits): Promise<void>
  /** Ends the controllers of both. */
  pause(): Promise<void>
  /** Steps after pause(), in the namespace of play(). */
  takeMeanwhile(scenario: Scenario, time: number, steps: readonly Step[]): Promise<void>
  /** Starts them again, and waits until they have looked at everything. */
  resume(): Promise<void>
  /** The `time`-th time: it has a namespace of its own. */
  play(scenario: Scenario, time: number): Promise<Played>
}

export interface SidesOptions {
  /**
   * Both have metrics APIs, which autoscalers ask every second, and their nodes have a zone each. Upstream looks at volumes and
   * claims every second too, ours when something changes.
   */
  metrics?: boolean
  /** Both have a server of an aggregated API with objects, since before their controllers start. */
  aggregated?: boolean
  /** Their Services may have addresses of IPv4, IPv6 or both; default: of IPv4. */
  dualStack?: boolean
  /** false: they have no nodes but those that scenarios make. Default: two that are always ready. */
  nodes?: boolean
}

export async function startBothSides(sidesOptions: SidesOptions = {}): Promise<BothSides> {
  const { metrics = false, aggregated = false, dualStack = false, nodes = true } = sidesOptions
  await using starting = new AsyncDisposableStack()
  const period = metrics ? ["--horizontal-pod-autoscaler-sync-period=1s", "--pvclaimbinder-sync-period=1s"] : []
  const controllerManagerFlags = [...kubernetesOptions.controllerManagerFlags, ...period]
  const apiServerFlags = [...(metrics || aggregated ? aggregatingFlags : []), ...(dualStack ? dualStackFlags : [])]
  // It looks for APIs when it starts, and then every 30 s.
  const options = { controllerManager: !aggregated, serviceAccounts: true, controllerManagerFlags, apiServerFlags }
  const kubernetes = starting.use(await TestKubernetes.start(options))
  const serviceAddresses = dualStack ? () => new DualStackAddresses() : rangeAddresses
  const gateway = starting.use(await startTestGateway({ serviceAddresses, allowedNetworks }))
  const { kubeconfig } = await gateway.createTenant("a")
  const { tenants } = gateway.gateway
  const rootCertificateAuthority = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"
  const signer = createCertificateSigner(tenants)
  const often = metrics ? { autoscalerPeriodMs: 1_000 } : {}
  const startOurs = (limits: Limits["limits"]): AsyncDisposable =>
    startControllers(tenants, { rootCertificateAuthority, signer, limits: { ...often, ...limits } })
  if (aggregated) {
    const file = kubernetes.path("tenant.kubeconfig")
    await writeFile(file, kubeconfig, { mode: 0o600 })
    const clusters = [kubernetes, { client: tenants.client("a"), kubeconfig: file }]
    await Promise.all(clusters.map(async (each) => starting.use(await Wardle.start(each))))
    await kubernetes.startControllerManager(controllerManagerFlags)
  }
  const kinds = aggregated ? { kinds: kindsWithAggregated } : {}
  let controllers = startOurs({})
  starting.defer(() => controllers[Symbol.asyncDispose]())
  const ending = new AbortController()
  starting.defer(() => ending.abort())
  // Ours does not ask again what was refused for now, such as an eviction while a budget cannot be counted.
  const { server, certificateAuthority, token } = kubernetes
  const realClient = starting.use(createHttpClient({ server, certificateAuthority, token, limits: { retries: 0 } }))
  const ranges = new OwnRanges()
  const sides = await Promise.all(
    [realClient, tenants.client("a")].map(async (client) => {
      await defineThings(client)
      const heartbeats = new Heartbeats(client, ending.signal)
      if (nodes) await createNodes(client, { zones: metrics, heartbeats })
      if (!metrics) return Side.start(client, ending.signal, { ...kinds, heartbeats, ranges })
      await serveMetrics(client)
      const customMetrics = starting.use(await CustomMetrics.start(client))
      return Side.start(client, ending.signal, { customMetrics, heartbeats, ranges })
    }),
  )
  const stack = starting.move()
  return {
    async play(scenario, time) {
      if (scenario.before === undefined) await Promise.all(sides.map((side) => prepare(side, scenario, time)))
      const [real, ours] = withoutCut(await Promise.all(sides.map((side) => play(side, scenario, time))))
      return { real: real as Snapshot, ours: ours as Snapshot }
    },
    async prepare(scenario) {
      await Promise.all(sides.map((side) => prepare(side, scenario, 1)))
    },
    async takeMeanwhile(scenario, time, steps) {
      await Promise.all(sides.map((side) => takeMeanwhile(side, scenario, time, steps)))
    },
    async pause() {
      for (const side of sides) side.isPaused = true
      await kubernetes.stopControllerManager()
      await controllers[Symbol.asyncDispose]()
    },
    async resume() {
      await kubernetes.startControllerManager(controllerManagerFlags)
      controllers = startOurs({})
      await delay(lookMs)
      for (const side of sides) side.isPaused = false
    },
    async restart({ flags, beginsMs, limits }) {
      await kubernetes.stopControllerManager()
      await kubernetes.stopApiServer()
      await kubernetes.startApiServer()
      await kubernetes.startControllerManager([...controllerManagerFlags, ...flags])
      await delay(beginsMs)
      await controllers[Symbol.asyncDispose]()
      controllers = startOurs(limits)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** As a super cluster of our own gives them. */
function rangeAddresses(): RangeServiceAddresses {
  return new RangeServiceAddresses({ cidr: "10.96.0.0/16", load: async () => [] })
}

/** Lines that one of them has more often: "-" the real one, "+" ours. */
export function differences({ real, ours }: Played): string {
  const lines = (of: Snapshot): string[] => JSON.stringify(of, null, 1).split("\n")
  const more = (of: readonly string[], sign: string, than: readonly string[]): string[] => {
    const left = Map.groupBy(than, (line) => line)
    return of.filter((line) => left.get(line)?.pop() === undefined).map((line) => `${sign} ${line.trim()}`)
  }
  const [of, than] = [lines(real), lines(ours)]
  const found = [...more(of, "-", than), ...more(than, "+", of)]
  return found.length > 0 ? found.join("\n") : "the same lines in another order"
}
