// A Service of one pod. It shows how far the controller of EndpointSlices has come: it sees changes in their order, and so has seen all
// that was written before a change of the canary when that is in its slice. Others do not show how often they write.

import { setTimeout as delay } from "node:timers/promises"
import type { EndpointSlice, KubeObject } from "../../../apimachinery/object.ts"
import { endpointSlices, namespaces, pods, services } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { SharedTurns } from "./shared-turns.ts"

const namespace = "canary"
const name = "canary"
const pollMs = 20
const patienceMs = 60_000

export class Canary {
  readonly #client: KubeClient
  readonly #turns = new SharedTurns(() => this.#sing())
  #beats = 0

  private constructor(client: KubeClient) {
    this.#client = client
  }

  static async start(client: KubeClient): Promise<Canary> {
    const metadata = { namespace, name, labels: { app: name } }
    const ports = [{ port: 80 }]
    const spec = { selector: metadata.labels, ports, clusterIP: "None", publishNotReadyAddresses: true }
    // It is on no node, so that it matters to nobody whether there are any.
    const pod = { metadata, spec: { automountServiceAccountToken: false, containers: [{ name: "c", image: "one" }] } }
    await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } })
    await client.create(services, { apiVersion: "v1", kind: "Service", metadata, spec } as KubeObject)
    await eventuallyCreated(() => client.create(pods, { apiVersion: "v1", kind: "Pod", ...pod } as KubeObject))
    return new Canary(client)
  }

  /** Until what has been written to Services and pods before is seen. */
  sings(): Promise<void> {
    return this.#turns.take()
  }

  async #sing(): Promise<void> {
    const beat = ++this.#beats
    const ip = `10.2.${(beat >> 8) & 255}.${beat & 255}`
    const label = String(beat)
    const status = { podIP: ip, podIPs: [{ ip }] }
    await this.#client.patch(pods, namespace, name, { status }, { type: "merge", subresource: "status" })
    await this.#client.patch(services, namespace, name, { metadata: { labels: { beat: label } } }, { type: "merge" })
    for (const end = Date.now() + patienceMs; Date.now() < end; await delay(pollMs)) {
      const { items } = await this.#client.list<EndpointSlice>(endpointSlices, { namespace })
      const isSeen = ({ metadata: { labels }, endpoints }: EndpointSlice): boolean =>
        labels?.["beat"] === label && (endpoints ?? []).some(({ addresses }) => addresses.includes(ip))
      if (items.some(isSeen)) return
    }
    throw new Error("the canary is not heard")
  }
}

/** A namespace has a service account a moment later. */
async function eventuallyCreated(create: () => Promise<unknown>): Promise<void> {
  for (const end = Date.now() + patienceMs; ; await delay(pollMs)) {
    try {
      await create()
      return
    } catch (error) {
      if (Date.now() > end) throw error
    }
  }
}
