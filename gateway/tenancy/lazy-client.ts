// A client of a control plane that may be asleep: each call wakes it and keeps it awake until the response; afterwards it stays
// awake as after any use, unless the call does not count as use.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { KubeClient, Resource, WatchEvent, WatchOptions } from "../../client/rest.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"

type Opened = Pick<ControlPlane, "client" | "presence">

/** `open` throws NotFound if the tenant does not exist. */
export function createLazyClient(open: () => Promise<Opened>, isUse = true): KubeClient {
  async function call<T>(make: (client: KubeClient) => Promise<T>): Promise<T> {
    const controlPlane = await open()
    const leave = controlPlane.presence.enter(isUse)
    try {
      return await make(controlPlane.client)
    } finally {
      leave()
    }
  }
  return {
    discover: () => call((client) => client.discover()),
    unavailable: () => call((client) => client.unavailable()),
    get: (...request) => call((client) => client.get(...request)),
    raw: (path) => call((client) => client.raw(path)),
    list: (...request) => call((client) => client.list(...request)),
    create: (...request) => call((client) => client.create(...request)),
    update: (...request) => call((client) => client.update(...request)),
    patch: (...request) => call((client) => client.patch(...request)),
    delete: (...request) => call((client) => client.delete(...request)),
    deleteCollection: (...request) => call((client) => client.deleteCollection(...request)),
    watch: <T extends KubeObject>(resource: Resource, options: WatchOptions) => watch<T>(open, resource, options),
  }
}

/** A watch does not keep the tenant awake: it continues when the tenant is woken again. */
async function* watch<T extends KubeObject>(
  open: () => Promise<Opened>,
  resource: Resource,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  yield* (await open()).client.watch<T>(resource, options)
}
