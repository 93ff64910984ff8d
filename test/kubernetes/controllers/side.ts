// One of the two clusters, and when something has changed in it last: a watch per kind tells, for all scenarios that are played.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { Informer } from "../../../client/informers/informer.ts"
import type { KubeClient } from "../../../client/rest.ts"
import type { CustomMetrics } from "./custom-metrics.ts"
import { kinds as usual, type Kinds } from "./kinds.ts"

/** Objects without a namespace are a scenario's by their names, which begin with its namespace's (play.ts). */
const namedAfter = /^s\d+-.*?-ns(?=-|$)/

export interface SideOptions {
  customMetrics?: CustomMetrics
  /** Those of its objects. Default: of every cluster. */
  kinds?: Kinds
}

export class Side {
  readonly client: KubeClient
  readonly kinds: Kinds
  /** Where it has a custom metrics API. */
  readonly customMetrics: CustomMetrics | undefined
  /** By namespace. */
  readonly #changed = new Map<string, number>()

  private constructor(client: KubeClient, { customMetrics, kinds = usual }: SideOptions) {
    this.client = client
    this.customMetrics = customMetrics
    this.kinds = kinds
  }

  static async start(client: KubeClient, signal: AbortSignal, options: SideOptions = {}): Promise<Side> {
    const side = new Side(client, options)
    const note = ({ metadata: { namespace, name = "" } }: KubeObject): void => {
      const place = namespace ?? namedAfter.exec(name)?.[0]
      if (place !== undefined) side.#changed.set(place, Date.now())
    }
    await Promise.all(
      [...side.kinds.namespaced, ...side.kinds.cluster].map((kind) => {
        const informer = new Informer(client, kind)
        informer.subscribe({ added: note, updated: note, deleted: note })
        return informer.start(signal)
      }),
    )
    return side
  }

  /** When something of the scenario in that namespace has changed last; 0: never. */
  changedAt(namespace: string): number {
    return this.#changed.get(namespace) ?? 0
  }
}
