// A client of a control plane that may not be open yet: each call opens it first.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { KubeClient, Resource, WatchEvent, WatchOptions } from "../../client/rest.ts"

/** `open` fails with NotFound when there is no such tenant. */
export function createLazyClient(open: () => Promise<KubeClient>): KubeClient {
  return {
    discover: async () => (await open()).discover(),
    get: async (...call) => (await open()).get(...call),
    raw: async (path) => (await open()).raw(path),
    list: async (...call) => (await open()).list(...call),
    create: async (...call) => (await open()).create(...call),
    update: async (...call) => (await open()).update(...call),
    patch: async (...call) => (await open()).patch(...call),
    delete: async (...call) => (await open()).delete(...call),
    deleteCollection: async (...call) => (await open()).deleteCollection(...call),
    watch: <T extends KubeObject>(resource: Resource, options: WatchOptions) => watch<T>(open, resource, options),
  }
}

async function* watch<T extends KubeObject>(
  open: () => Promise<KubeClient>,
  resource: Resource,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  yield* (await open()).watch<T>(resource, options)
}
