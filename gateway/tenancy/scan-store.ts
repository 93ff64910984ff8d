// All that lies in a store at one revision, piece by piece: what a tenant's feed begins with. Requests get their turn in between.

import { setImmediate as nextTurn } from "node:timers/promises"
import type { KeyValue, Store } from "../../storage/types.ts"

/** Objects read at once. */
const pieceSize = 500

/** `at`: undefined: the latest. Answers the revision it is true at. */
export async function scanStore(
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
