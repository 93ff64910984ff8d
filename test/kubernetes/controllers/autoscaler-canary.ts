// An autoscaler that shows how far the controller of autoscalers has come: all are looked at every second, one after the other, so that a
// busy machine has looked at each of them when it has looked twice at this one.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { horizontalPodAutoscalers, namespaces, replicaSets } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { eventually } from "../../harness/eventually.ts"
import { setQueue } from "./metrics.ts"
import { SharedTurns } from "./shared-turns.ts"

const namespace = "autoscaler-canary"
const name = "canary"

export class AutoscalerCanary {
  readonly #client: KubeClient
  readonly #turns = new SharedTurns(async () => {
    await this.#sing()
    await this.#sing()
  })
  #beats = 0

  private constructor(client: KubeClient) {
    this.#client = client
  }

  /** Where there are metrics APIs. */
  static async start(client: KubeClient): Promise<AutoscalerCanary> {
    const metadata = { namespace, name }
    const labels = { app: name }
    const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "one" }] } }
    const set = { replicas: 1, selector: { matchLabels: labels }, template }
    const target = { type: "AverageValue", averageValue: "10" }
    const spec = {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "ReplicaSet", name },
      maxReplicas: 1,
      metrics: [{ type: "External", external: { metric: { name: "queue" }, target } }],
    }
    await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } })
    await client.create(replicaSets, { apiVersion: "apps/v1", kind: "ReplicaSet", metadata, spec: set } as KubeObject)
    const autoscaler = { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata, spec }
    await client.create(horizontalPodAutoscalers, autoscaler as KubeObject)
    return new AutoscalerCanary(client)
  }

  /** Until each autoscaler has been looked at since. */
  sings(): Promise<void> {
    return this.#turns.take()
  }

  async #sing(): Promise<void> {
    const beat = String(++this.#beats)
    await setQueue(this.#client, namespace, beat)
    const isHeard = async (): Promise<boolean> => {
      const { status } = (await this.#client.get(horizontalPodAutoscalers, namespace, name)) as { status?: object }
      return JSON.stringify(status ?? {}).includes(`"averageValue":"${beat}"`)
    }
    await eventually(isHeard, { what: "the autoscaler canary is heard" })
  }
}
