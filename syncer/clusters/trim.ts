// The super cluster as the caches keep it: without managedFields, which are often half of an object and which nothing here reads.
// Tenants' objects are not trimmed: in one process with the gateway the caches share them with it.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { ListOptions, ListWatch, Resource, WatchEvent, WatchOptions } from "../../client/rest.ts"

/** Lists and watches of the client, without them. */
export function trimmed(client: ListWatch): ListWatch {
  return {
    async list<T extends KubeObject>(resource: Resource, options?: ListOptions) {
      const list = await client.list<T>(resource, options)
      return { ...list, items: list.items.map(trim) }
    },
    watch: <T extends KubeObject>(resource: Resource, options: WatchOptions) =>
      trimEvents(client.watch<T>(resource, options)),
  }
}

async function* trimEvents<T extends KubeObject>(events: AsyncIterable<WatchEvent<T>>): AsyncGenerator<WatchEvent<T>> {
  for await (const event of events) yield { type: event.type, object: trim(event.object) }
}

function trim<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata
  return managedFields === undefined ? object : { ...object, metadata }
}
