// One of the two clusters, and when something has changed in it last: a watch per kind tells, for all scenarios that are played.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { Informer } from "../../../client/informers/informer.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { AutoscalerCanary } from "./autoscaler-canary.ts"
import { Canary } from "./canary.ts"
import type { CustomMetrics } from "./custom-metrics.ts"
import { kinds as usual, type Kinds } from "./kinds.ts"
import type { Heartbeats } from "./nodes.ts"
import { isReordered } from "./orders.ts"
import type { OwnRanges } from "./own-ranges.ts"

/** Objects without a namespace, and other namespaces, are a scenario's by their names, which begin with its namespace's (play.ts). */
const namedAfter = /^s\d+-.*?-ns(?=-|$)/

interface SideOptions {
  heartbeats: Heartbeats
  ranges: OwnRanges
  customMetrics?: CustomMetrics
  /** Those of its objects. Default: of every cluster. */
  kinds?: Kinds
}

export class Side {
  readonly client: KubeClient
  readonly kinds: Kinds
  readonly heartbeats: Heartbeats
  readonly ranges: OwnRanges
  /** Where it has a custom metrics API. */
  readonly customMetrics: CustomMetrics | undefined
  /** By namespace. */
  readonly #changed = new Map<string, number>()
  readonly #withServices = new Set<string>()
  readonly #canary: Canary
  readonly #autoscalers: AutoscalerCanary | undefined
  /** Its controllers do not run: they are not waited for. */
  isPaused = false

  private constructor(
    client: KubeClient,
    canary: Canary,
    autoscalers: AutoscalerCanary | undefined,
    { heartbeats, ranges, customMetrics, kinds = usual }: SideOptions,
  ) {
    this.client = client
    this.#autoscalers = autoscalers
    this.heartbeats = heartbeats
    this.ranges = ranges
    this.#canary = canary
    this.customMetrics = customMetrics
    this.kinds = kinds
  }

  static async start(client: KubeClient, signal: AbortSignal, options: SideOptions): Promise<Side> {
    const autoscalers = options.customMetrics && (await AutoscalerCanary.start(client))
    const side = new Side(client, await Canary.start(client), autoscalers, options)
    const note = ({ metadata: { namespace, name = "" } }: KubeObject): void => {
      const scenario = namedAfter.exec(namespace ?? name)?.[0]
      for (const place of [namespace, scenario]) if (place !== undefined) side.#changed.set(place, Date.now())
    }
    await Promise.all(
      [...side.kinds.namespaced, ...side.kinds.cluster].map((kind) => {
        const informer = new Informer(client, kind)
        informer.subscribe({
          added: note,
          updated(object, previous) {
            if (!isReordered(object, previous)) note(object)
          },
          deleted: note,
        })
        return informer.start(signal)
      }),
    )
    return side
  }

  /** A Service has been made in that namespace. */
  async hasService(namespace: string): Promise<void> {
    this.#withServices.add(namespace)
    await this.endpointsFollow(namespace)
  }

  /**
   * Until the endpoints of the namespace's Services, if it has any, are being written for what was done before: how many changes go into one
   * write would be a matter of moments.
   */
  async endpointsFollow(namespace: string): Promise<void> {
    if (!this.isPaused && this.#withServices.has(namespace)) await this.#canary.sings()
  }

  /** Until autoscalers, where they have metrics, have been looked at since. */
  async autoscalersFollow(): Promise<void> {
    if (!this.isPaused) await this.#autoscalers?.sings()
  }

  /** When something of the scenario in that namespace has changed last; 0: never. */
  changedAt(namespace: string): number {
    return this.#changed.get(namespace) ?? 0
  }
}
