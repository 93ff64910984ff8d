// A client that sets the fieldManager of writes if the caller does not; managedFields contain it.

import type { KubeClient } from "./rest.ts"

const named = new WeakMap<KubeClient, Map<string, KubeClient>>()

/** Returns the same result for the same client. */
export function withFieldManager(client: KubeClient, fieldManager: string): KubeClient {
  let byName = named.get(client)
  if (byName === undefined) named.set(client, (byName = new Map<string, KubeClient>()))
  let wrapped = byName.get(fieldManager)
  if (wrapped === undefined) byName.set(fieldManager, (wrapped = wrap(client, fieldManager)))
  return wrapped
}

function wrap(client: KubeClient, fieldManager: string): KubeClient {
  return {
    discover: () => client.discover(),
    unavailable: () => client.unavailable(),
    get: (resource, namespace, name, options) => client.get(resource, namespace, name, options),
    raw: (path) => client.raw(path),
    list: (resource, options) => client.list(resource, options),
    watch: (resource, options) => client.watch(resource, options),
    create: (resource, object, options) => client.create(resource, object, { fieldManager, ...options }),
    update: (resource, object, options) => client.update(resource, object, { fieldManager, ...options }),
    patch: (resource, namespace, name, patch, options) =>
      client.patch(resource, namespace, name, patch, { fieldManager, ...options }),
    delete: (resource, namespace, name, options) => client.delete(resource, namespace, name, options),
    deleteCollection: (resource, namespace, selectors, options) =>
      client.deleteCollection(resource, namespace, selectors, options),
  }
}
