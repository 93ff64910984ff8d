// Reads a collection at one point in time in pieces, so that other requests are served in between and the collection need not fit
// into memory. Used for lists, their pages (list.ts) and the initial events of watches (watch.ts).
//
//   piece:    read from the store at once   ── at most 500 and 8 MiB, or 10,000 that are in memory
//   stretch:  passed on at once             ── at most 100, with a turn for others in between; the whole piece for a page

import { storedLength, storedLengthOf } from "../../../../storage/base-layer.ts"
import { pieceBytes } from "../../../../storage/limits.ts"
import type { KeyValue, RangeOptions, RangeResult, Store } from "../../../../storage/types.ts"
import { checkAwaited } from "../../../request/awaited.ts"
import { largeBytes } from "../../../request/large-places.ts"
import type { Reading } from "../../rest.ts"
import type { Selection } from "./selection.ts"
import type { KubeValue } from "../storage/value.ts"
import type { ValueReader } from "../storage/value-reader.ts"

/** Objects per read from the store. */
export const pieceSize = 500

/**
 * Objects per read if they are in memory: reading them is fast, whereas later reads would have to be reconstructed from the history
 * if something was written meanwhile.
 */
const pieceSizeInMemory = 10_000

/** Objects of a stream that are passed on before others may have their turn: each may have to be encoded. */
const streamed = 100

/** Objects examined before others may have their turn, if they are no longer together: each may have to be parsed. */
const glances = 25
const glanceBytes = 64 * 1024

export interface PiecesSource {
  store: Store
  reader: ValueReader
  ctx: Reading
  /** For consumers that collect the objects: is told their size. */
  collect?: (bytes: number) => void
}

export type PieceSizes = Pick<RangeOptions, "limit" | "limitInMemory" | "count">

interface Stretch {
  readonly values: readonly KubeValue[]
  /** The stored entries of the values. */
  readonly stored: readonly KeyValue[]
  readonly piece: RangeResult
}

type Values = readonly KubeValue[]

/** `revision` undefined: the latest. Returns the revision that was read, and the selected objects as a stream. */
export async function streamAt(
  source: PiecesSource,
  selection: Selection,
  place: { revision: number | undefined; after: string | undefined },
): Promise<{ revision: number; pieces: Iterable<Values> | AsyncIterable<Values> }> {
  const sizes = { limit: pieceSize, limitInMemory: pieceSizeInMemory }
  const first = await readPiece(source, selection, place, sizes)
  // The lists that admission reads for every write are nearly always empty.
  const pieces = first.items.length === 0 ? [] : selected(source, selection, first)
  return { revision: first.revision, pieces }
}

async function* selected(source: PiecesSource, selection: Selection, first: RangeResult): AsyncGenerator<Values> {
  const { collect, ctx } = source
  for await (const { values, stored } of stretches(source, selection, first, () => ({ limit: pieceSize }), streamed)) {
    const chosen = selection.matches === undefined ? values : (await choose(ctx, selection, { values, stored })).chosen
    collect?.(chosen === values ? storedLengthOf(stored) : chosen.reduce((sum, { length }) => sum + length, 0))
    if (chosen.length > 0) yield chosen
  }
}

/** Excludes objects without parsing them; the consumer applies the whole selection. `sizes`: those of the next piece. */
export async function* stretches(
  source: PiecesSource,
  selection: Selection,
  first: RangeResult,
  sizes: () => PieceSizes,
  stretchSize = pieceSize,
): AsyncGenerator<Stretch> {
  const { reader, ctx } = source
  const { mayMatch } = selection
  const { revision } = first
  for (let piece = first; ;) {
    for (let from = 0; from < piece.items.length; from += stretchSize) {
      if (from > 0) await rest(ctx)
      const all = piece.items.slice(from, from + stretchSize)
      const stored = mayMatch === undefined ? all : reader.candidates(all, mayMatch)
      yield { values: await reader.many(stored, ctx.pause), stored, piece }
    }
    if (!piece.more) return
    await nextTurn(ctx)
    piece = await readPiece(source, selection, { revision, after: piece.items.at(-1)?.key }, sizes())
  }
}

/**
 * At most `atMost` values. `end`: the index of the last value examined. Takes turns, since parsing hundreds of objects takes too
 * long for others.
 */
export async function choose(
  ctx: Reading,
  { matches }: Selection,
  { values, stored }: Pick<Stretch, "values" | "stored">,
  atMost = Infinity,
): Promise<{ chosen: Values; end: number }> {
  if (matches === undefined) {
    const chosen = values.length > atMost ? values.slice(0, atMost) : values
    return { chosen, end: chosen.length - 1 }
  }
  const chosen: KubeValue[] = []
  let read = 0
  for (const [index, value] of values.entries()) {
    if (read >= glanceBytes) {
      await ctx.pause?.()
      read = 0
    }
    const entry = stored[index]
    // As it is stored: what has been converted would be printed to know its length.
    read += Math.max(entry === undefined ? 0 : storedLength(entry), glanceBytes / glances)
    if (!matches(value)) continue
    chosen.push(value)
    if (chosen.length === atMost) return { chosen, end: index }
  }
  return { chosen, end: values.length - 1 }
}

interface PiecePlace {
  revision: number | undefined
  after: string | undefined
}

/** A large piece is read only by a request that may hold it: the first one is dropped while the request waits for that. */
export async function readPiece(
  { store, ctx }: Pick<PiecesSource, "store" | "ctx">,
  { prefix }: Selection,
  place: PiecePlace,
  sizes: PieceSizes,
): Promise<RangeResult> {
  const read = (limitBytes: number): Promise<RangeResult> =>
    store.range(prefix, { ...rangeOptions(place, sizes), limitBytes })
  if (ctx.enlarge === undefined) return read(pieceBytes)
  let piece: RangeResult | undefined = await read(ctx.isLarge === true ? pieceBytes : largeBytes)
  const waiting = piece.bytes < largeBytes ? undefined : ctx.enlarge()
  if (waiting === undefined) return piece
  piece = undefined
  await waiting
  checkAwaited(ctx)
  return read(pieceBytes)
}

function rangeOptions({ revision, after }: PiecePlace, sizes: PieceSizes): RangeOptions {
  return { ...sizes, ...(revision === undefined ? {} : { revision }), ...(after === undefined ? {} : { after }) }
}

/** Lets others have their turn only if this turn is used up: most objects are skipped quickly. */
async function rest(ctx: Reading): Promise<void> {
  await (ctx.pause === undefined ? othersTurn(ctx) : ctx.pause())
  checkAwaited(ctx)
}

/** Lets others have their turn. */
async function nextTurn(ctx: Reading): Promise<void> {
  await othersTurn(ctx)
  checkAwaited(ctx)
}

function othersTurn({ turn }: Reading): Promise<void> {
  return turn?.() ?? new Promise((resolve) => setImmediate(resolve))
}
