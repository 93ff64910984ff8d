// Endpoints of which the controller hears late.

import { expect, test } from "vitest"
import type { Endpoints, KubeObject, Pod } from "../../apimachinery/object.ts"
import { serviceUnavailable } from "../../apimachinery/status.ts"
import { endpoints, pods, services } from "../../client/resources.ts"
import type { Resource, WatchEvent, WatchOptions, WriteOptions } from "../../client/rest.ts"
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

test.each([
  ["seen", 0],
  ["seen, of which no answer came", 1],
])(
  "those of a pod that is ready again before its earlier state is %s have it as soon as that is seen",
  async (_, unanswered) => {
    const clock = new FakeClock()
    const cluster = new LateCluster({ clock })
    await using harness = await startHarness({ only: ["endpoints"], cluster, clock })
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web", namespace: "default" },
      spec: { selector: labels, clusterIP: "10.0.0.1", ports: [{ port: 80, targetPort: 8080, protocol: "TCP" }] },
    }
    const pod = await harness.create<Pod>(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", namespace: "default", labels },
      spec: { nodeName: "n1", containers: [{ name: "c" }] },
    } as KubeObject)
    await harness.setPod(pod, "Running", true)
    await harness.create(services, service as KubeObject)
    const subsets = (): unknown => cluster.find<Endpoints>(endpoints, "default", "web")?.subsets
    await eventually(() => expect(subsets()).toMatchObject([{ addresses: [{ targetRef: { name: "web" } }] }]))
    const released = Promise.withResolvers<void>()
    cluster.held = released.promise
    cluster.unanswered = unanswered
    await harness.setPod(pod, "Running", false)
    await eventually(() => expect(subsets()).toMatchObject([{ notReadyAddresses: [{ targetRef: { name: "web" } }] }]))
    await harness.setPod(pod, "Running", true)
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    released.resolve()
    await eventually(() => expect(subsets()).toMatchObject([{ addresses: [{ targetRef: { name: "web" } }] }]))
  },
)
