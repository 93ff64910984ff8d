// A client of a control plane that may be asleep: each call wakes it and keeps it awake until the response; afterwards it stays
// awake as after any use, unless the call does not count as use.

import type { KubeObject } from "../../apimachinery/object.ts"
import { ForwardingClient } from "../../client/forwarding-client.ts"
import type { KubeClient, Resource, WatchEvent, WatchOptions } from "../../client/rest.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"

type Opened = Pick<ControlPlane, "client" | "presence">

/** `open` throws NotFound if the tenant does not exist. */
export function createLazyClient(open: () => Promise<Opened>, isUse = true): KubeClient {
  return new LazyClient(open, isUse)
}

class LazyClient extends ForwardingClient {
  readonly #open: () => Promise<Opened>
  readonly #isUse: boolean

  constructor(open: () => Promise<Opened>, isUse: boolean) {
    super()
    this.#open = open
    this.#isUse = isUse
  }

  protected override async call<T>(make: (client: KubeClient) => Promise<T>): Promise<T> {
    const controlPlane = await this.#open()
    const leave = controlPlane.presence.enter(this.#isUse)
    try {
      return await make(controlPlane.client)
    } finally {
      leave()
    }
  }

  /** It does not keep the tenant awake, and continues when that is woken again. */
  override async *watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    yield* (await this.#open()).client.watch<T>(resource, options)
  }
}
