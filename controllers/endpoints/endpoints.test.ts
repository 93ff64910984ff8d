// Endpoints of which the controller hears late.

import { expect, test } from "vitest"
import type { Endpoints, KubeObject, Pod } from "../../apimachinery/object.ts"
import { serviceUnavailable } from "../../apimachinery/status.ts"
import { endpoints, pods, services } from "../../client/resources.ts"
import type { Resource, WatchEvent, WatchOptions, WriteOptions } from "../../client/rest.ts"
import { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { eventually, startHarness } from "../testing/harness.ts"

/** While they are held, nobody hears of changes of Endpoints. */
class LateCluster extends FakeCluster {
  held: Promise<void> | undefined
  /** The answers to this many updates of Endpoints are lost. */
  unanswered = 0

  override async *watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void> {
    for await (const event of super.watch<T>(resource, options)) {
      if (resource.resource === "endpoints" && event.type === "MODIFIED") await this.held
      yield event
    }
  }

  override async update<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T> {
    const updated = await super.update(resource, object, options)
    if (resource.resource === "endpoints" && this.unanswered-- > 0) throw serviceUnavailable("the answer is lost")
    return updated
  }
}

const labels = { app: "web" }

/** A Service with one pod, which is ready. */
async function startService() {
  const clock = new FakeClock()
  const cluster = new LateCluster({ clock })
  const metrics = new ClientMetrics()
  const harness = await startHarness({ only: ["endpoints"], cluster, clock, metrics })
  const pod = await harness.create<Pod>(pods, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default", labels },
    spec: { nodeName: "n1", containers: [{ name: "c" }] },
  } as KubeObject)
  const listed = (list: "addresses" | "notReadyAddresses"): Promise<void> =>
    eventually(() => {
      clock.advance(10)
      const { subsets } = cluster.find<Endpoints>(endpoints, "default", "web") ?? {}
      expect(subsets).toMatchObject([{ [list]: [{ targetRef: { name: "web" } }] }])
    })
  await harness.setPod(pod, "Running", true)
  await harness.create(services, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default" },
    spec: { selector: labels, clusterIP: "10.0.0.1", ports: [{ port: 80, targetPort: 8080, protocol: "TCP" }] },
  } as KubeObject)
  await listed("addresses")
  const setReady = (isReady: boolean): Promise<void> => harness.setPod(pod, "Running", isReady)
  const dispose = (): PromiseLike<void> => harness[Symbol.asyncDispose]()
  return { clock, cluster, queue: metrics.queue("endpoint"), listed, setReady, [Symbol.asyncDispose]: dispose }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test.each([
  ["seen", { unanswered: 0, lateMs: 0 }],
  ["seen, which is not waited for any more", { unanswered: 0, lateMs: 6_000 }],
  ["seen, of which no answer came", { unanswered: 1, lateMs: 0 }],
])(
  "those of a pod that is ready again before its earlier state is %s have it as soon as that is seen",
  async (_, { unanswered, lateMs }) => {
    await using service = await startService()
    const { clock, cluster, listed, setReady } = service
    await turns()
    const released = Promise.withResolvers<void>()
    cluster.held = released.promise
    cluster.unanswered = unanswered
    await setReady(false)
    await listed("notReadyAddresses")
    await turns()
    clock.advance(lateMs)
    await setReady(true)
    await turns()
    released.resolve()
    await listed("addresses")
  },
)

test("a Service whose Endpoints are written after a refusal is not reconciled again for them", async () => {
  await using service = await startService()
  const { cluster, queue, listed, setReady } = service
  let refusals = 0
  cluster.fail = (verb, resource) =>
    verb === "update" && resource === "endpoints" && refusals++ === 0 ? serviceUnavailable("not now") : undefined
  await turns()
  const { adds } = queue
  await setReady(false)
  await listed("notReadyAddresses")
  await turns()
  // For the pod, and after the refusal.
  expect(queue.adds - adds).toBe(2)
})
