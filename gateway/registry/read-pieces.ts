// A collection at one point in time, read in pieces, so that other requests get their turn and the whole of it need not be in memory
// at once. For lists, their pages (list.ts) and what a watch begins with (watch.ts).
//
//   piece:    what the store is asked for at once    ── at most 500, or 10,000 that lie in memory
//   stretch:  what is handed over at once            ── at most 100, others have their turn between; of a page the whole piece

import { timeout } from "../../apimachinery/status.ts"
import type { KeyValue, RangeOptions, RangeResult, Store } from "../../storage/types.ts"
import type { RequestContext } from "../request/context.ts"
import type { Selection } from "./selection.ts"
import type { KubeValue } from "./value.ts"
import type { ValueReader } from "./value-reader.ts"

/** Objects read from the store at once. */
export const pieceSize = 500

/**
 * Read at once where they are in memory: they are there in an instant, and what is read later, when something was written
 * meanwhile, has to be put together from the history.
 */
const pieceSizeInMemory = 10_000

/** Objects of a stream handed over before it is looked whether others wait: what is done with each may be to encode it. */
const streamed = 100

/** Objects looked into before others may have their turn: looking may be to parse. */
const glances = 25

/** What reading asks of the request it is for. */
export type Reading = Pick<RequestContext, "turn" | "pause" | "isOver">

export interface PiecesSource {
  store: Store
  reader: ValueReader
  ctx: Reading
}

export type PieceSizes = Pick<RangeOptions, "limit" | "limitInMemory" | "count">

interface Stretch {
  readonly values: readonly KubeValue[]
  /** What they are of. */
  readonly stored: readonly KeyValue[]
  readonly piece: RangeResult
}

type Values = readonly KubeValue[]

/** `revision` undefined: the latest there is. Answers the one it is true at, and all that is selected as it is taken. */
export async function streamAt(
  source: PiecesSource,
  selection: Selection,
  place: { revision: number | undefined; after: string | undefined },
): Promise<{ revision: number; pieces: Iterable<Values> | AsyncIterable<Values> }> {
  const first = await readPiece(source.store, selection, place, { limit: pieceSize, limitInMemory: pieceSizeInMemory })
  // What admission asks for with every write is nearly always nothing.
  const pieces = first.items.length === 0 ? [] : selected(source, selection, first)
  return { revision: first.revision, pieces }
}

async function* selected(source: PiecesSource, selection: Selection, first: RangeResult): AsyncGenerator<Values> {
  for await (const { values } of stretches(source, selection, first, () => ({ limit: pieceSize }), streamed)) {
    const chosen = selection.matches === undefined ? values : (await choose(source.ctx, selection, values)).chosen
    if (chosen.length > 0) yield chosen
  }
}

/** Without what labels tell is not selected; whoever takes a stretch selects. `sizes`: of the next piece. */
export async function* stretches(
  { store, reader, ctx }: PiecesSource,
  selection: Selection,
  first: RangeResult,
  sizes: () => PieceSizes,
  stretchSize = pieceSize,
): AsyncGenerator<Stretch> {
  const { matchesLabels } = selection
  const { revision } = first
  for (let piece = first; ;) {
    for (let from = 0; from < piece.items.length; from += stretchSize) {
      if (from > 0) await rest(ctx)
      const all = piece.items.slice(from, from + stretchSize)
      const stored = matchesLabels === undefined ? all : reader.candidates(all, matchesLabels)
      yield { values: await reader.many(stored), stored, piece }
    }
    if (!piece.more) return
    await nextTurn(ctx)
    piece = await readPiece(store, selection, { revision, after: piece.items.at(-1)?.key }, sizes())
  }
}

/**
 * At most so many. `end`: where the last of them is among the values, the last one looked at. Parsing hundreds of objects takes
 * longer than others may wait.
 */
export async function choose(
  ctx: Reading,
  { matches }: Selection,
  values: Values,
  atMost = Infinity,
): Promise<{ chosen: Values; end: number }> {
  if (matches === undefined) {
    const chosen = values.length > atMost ? values.slice(0, atMost) : values
    return { chosen, end: chosen.length - 1 }
  }
  const chosen: KubeValue[] = []
  for (const [index, value] of values.entries()) {
    if (index > 0 && index % glances === 0) await ctx.turn?.()
    if (!matches(value)) continue
    chosen.push(value)
    if (chosen.length === atMost) return { chosen, end: index }
  }
  return { chosen, end: values.length - 1 }
}

export function readPiece(
  store: Store,
  { prefix }: Selection,
  { revision, after }: { revision: number | undefined; after: string | undefined },
  sizes: PieceSizes,
): Promise<RangeResult> {
  return store.range(prefix, {
    ...sizes,
    ...(revision === undefined ? {} : { revision }),
    ...(after === undefined ? {} : { after }),
  })
}

/** Others get theirs first when this one's has lasted: looking through thousands for a few is quick. */
async function rest(ctx: Reading): Promise<void> {
  await (ctx.pause === undefined ? othersTurn(ctx) : ctx.pause())
  checkAwaited(ctx)
}

/** Others get theirs first. */
async function nextTurn(ctx: Reading): Promise<void> {
  await othersTurn(ctx)
  checkAwaited(ctx)
}

function othersTurn({ turn }: Reading): Promise<void> {
  return turn?.() ?? new Promise((resolve) => setImmediate(resolve))
}

/** Throws when nobody waits for the answer any more. */
export function checkAwaited({ isOver }: Pick<RequestContext, "isOver">): void {
  if (isOver === true) throw timeout("request did not complete within requested timeout")
}
