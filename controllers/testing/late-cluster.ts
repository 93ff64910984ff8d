// A cluster of one kind of whose changes nobody hears while they are held.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { Clock } from "../../client/clock.ts"
import type { Resource, WatchEvent, WatchOptions } from "../../client/rest.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"

export class LateCluster extends FakeCluster {
  readonly #late: Resource
  #held: PromiseWithResolvers<void> | undefined

  constructor(late: Resource, options: { clock?: Clock } = {}) {
    super(options)
    this.#late = late
  }

  hold(): void {
    this.#held ??= Promise.withResolvers()
  }

  release(): void {
    this.#held?.resolve()
    this.#held = undefined
  }

  override async *watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void> {
    for await (const event of super.watch<T>(resource, options)) {
      if (resource === this.#late) await this.#held?.promise
      yield event
    }
  }
}
