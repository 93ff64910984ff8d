// Reads keys of a store at one revision in pieces, as the start of a tenant's feed. Requests are served between the pieces.

import { setImmediate as nextTurn } from "node:timers/promises"
import { pieceBytes } from "../../storage/limits.ts"
import type { KeyValue, Store } from "../../storage/types.ts"

/** Objects per read. */
const pieceSize = 500

/** Returns the revision that was read. A scan that is stopped may have read a part. */
export async function scanStore(
  store: Store,
  prefixes: ReadonlySet<string>,
  deliver: (item: KeyValue) => Promise<void> | undefined,
  isStopped: () => boolean,
): Promise<number> {
  let revision: number | undefined
  for (const prefix of prefixes) revision = await scan(store, prefix, revision, deliver, isStopped)
  return revision ?? store.revision
}

/** `at`: undefined is the latest. */
async function scan(
  store: Store,
  prefix: string,
  at: number | undefined,
  deliver: (item: KeyValue) => Promise<void> | undefined,
  isStopped: () => boolean,
): Promise<number> {
  let revision = at
  for (let after: string | undefined; ;) {
    const piece = await store.range(prefix, {
      limit: pieceSize,
      limitBytes: pieceBytes,
      ...(revision === undefined ? {} : { revision }),
      ...(after === undefined ? {} : { after }),
    })
    revision ??= piece.revision
    for (const item of piece.items) {
      const converting = deliver(item)
      if (converting !== undefined) await converting
      if (isStopped()) return revision
    }
    if (!piece.more) return revision
    after = piece.items.at(-1)?.key
    await nextTurn()
  }
}
