// Short writes, and events and objects as text.

import { expect } from "vitest"
import { StorageError, type KeyValue, type Store, type StoreEvent, type Watcher } from "../../types.ts"

export const bytes = (text: string): Uint8Array => Buffer.from(text)
export const text = (value: Uint8Array | undefined): string | undefined => value && Buffer.from(value).toString()
export const show = (kv: KeyValue | undefined): string | undefined =>
  kv && `${kv.key}=${text(kv.value)} ${kv.createRevision}/${kv.modRevision}`
const showEvent = (event: StoreEvent): string =>
  `${event.type} ${show(event.current)}${event.previous ? ` was ${show(event.previous)}` : ""}`
export const names = (items: readonly KeyValue[]): string[] => items.map((item) => item.key)

export const put = (store: Store, key: string, value: string) =>
  store.txn({ compare: [], operations: [{ type: "put", key, value: bytes(value) }] })
export const remove = (store: Store, key: string) => store.txn({ compare: [], operations: [{ type: "delete", key }] })

export const code = (expected: string): unknown =>
  expect.toSatisfy(
    (error: unknown) => error instanceof StorageError && error.code === expected,
    `StorageError ${expected}`,
  )

/** Reads events until there are `count`. */
export async function take(watcher: Watcher, count: number): Promise<string[]> {
  const events: string[] = []
  const iterator = watcher[Symbol.asyncIterator]()
  while (events.length < count) {
    const batch = await iterator.next()
    if (batch.done) break
    events.push(...batch.value.map(showEvent))
  }
  return events
}

export function closing(watcher: Watcher): AsyncDisposable & { watcher: Watcher } {
  return { watcher, [Symbol.asyncDispose]: async () => watcher.close() }
}
