// A list: one point in time, whole or in pages. It is read in pieces, so that other requests get their turn and a whole
// collection need not be in memory at once. Source of the rules: k8s.io/apiserver/pkg/storage/etcd3/store.go GetList.

import { StatusError, expired, requestEntityTooLarge } from "../../apimachinery/status.ts"
import { type KeyValue, type RangeOptions, StorageError, type Store } from "../../storage/types.ts"
import type { RequestContext } from "../request/context.ts"
import { type ContinueToken, decodeContinue, encodeContinue } from "./continue-token.ts"
import { checkContinue, checkListOptions, checkNotFuture, limitOf, parseListResourceVersion } from "./list-options.ts"
import type { ListOptions, ListResult, ListStream, ResourceDefinition } from "./rest.ts"
import { type Selection, selectionOf } from "./selection.ts"
import type { KubeValue } from "./value.ts"
import type { ValueReader } from "./value-reader.ts"

/** Objects read from the store at once. */
const pieceSize = 500

/**
 * Read at once where they are in memory: they are there in an instant, and what is read later, when something was written
 * meanwhile, has to be put together from the history.
 */
const pieceSizeInMemory = 10_000

const tooOldToken =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
  "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
  "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted " +
  "between the time the first chunk was returned and now may show up in the list."

interface Place {
  /** Undefined: the latest there is when the first piece is read. */
  revision: number | undefined
  /** Whole key. */
  after: string | undefined
}

/** What a list works on. */
interface Source {
  store: Store
  definition: ResourceDefinition
  reader: ValueReader
  /** RequestContext's. */
  turn: RequestContext["turn"]
  pause: RequestContext["pause"]
}

/** Objects handed over before it is looked whether others wait: what is done with each may be to encode it. */
const stretch = 100

/** Objects looked into before others may have their turn: looking may be to parse. */
const glances = 25

/** One page when there is a limit, and everything otherwise. */
export function listObjects(source: Source, options: ListOptions): Promise<ListResult> {
  return prepared(source, options, async (selection, place, limit) => {
    const size = Math.min(limit, options.atMost ?? Infinity)
    if (limit > 0) return readPage(source, selection, place, size, options.uncounted !== true)
    const { resourceVersion, pieces } = await readAll(source, selection, place)
    const items: KubeValue[] = []
    for await (const piece of pieces) {
      items.push(...piece)
      if (items.length > (options.atMost ?? Infinity)) throw tooMany(options.atMost ?? 0)
    }
    return { items, resourceVersion }
  })
}

/** Everything, piece by piece as the receiver takes it. `options` has no limit. */
export function streamObjects(source: Source, options: ListOptions): Promise<ListStream> {
  return prepared(source, options, (selection, place) => readAll(source, selection, place))
}

async function prepared<T>(
  { store, definition }: Source,
  options: ListOptions,
  read: (selection: Selection, place: Place, limit: number) => Promise<T>,
): Promise<T> {
  checkListOptions(options)
  const selection = selectionOf(definition, options)
  const token = options.continue ? decodeContinue(options.continue) : undefined
  if (token !== undefined) checkContinue(options)
  const limit = limitOf(options)
  const place = await placeOf(store, selection, options, limit, token)
  try {
    return await read(selection, place, limit)
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== "Compacted") throw error
    throw token === undefined ? tooOld(error) : tooOldButHere(token, error)
  }
}

async function placeOf(
  store: Store,
  { base }: Selection,
  options: ListOptions,
  limit: number,
  token: ContinueToken | undefined,
): Promise<Place> {
  if (token !== undefined) return { revision: token.revision, after: base + token.after }
  const revision = parseListResourceVersion(options.resourceVersion)
  await checkNotFuture(revision, store, options.resourceVersion)
  // With a limit and no match given, a resource version means exactly that one.
  const exact = options.resourceVersionMatch === "Exact" || (!options.resourceVersionMatch && limit > 0)
  return { revision: exact ? revision : undefined, after: undefined }
}

async function readAll(source: Source, selection: Selection, place: Place): Promise<ListStream> {
  if (selection.key !== undefined) {
    const { items, resourceVersion } = await readOne(source, selection, selection.key, place)
    return { resourceVersion, pieces: [items] }
  }
  const first = await readPiece(source.store, selection, place, pieceSize, { limitInMemory: pieceSizeInMemory })
  // What admission asks for with every write is nearly always nothing.
  const pieces = first.items.length === 0 ? [] : readPieces(source, selection, first)
  return { resourceVersion: String(first.revision), pieces }
}

async function* readPieces(
  source: Source,
  selection: Selection,
  first: Awaited<ReturnType<typeof readPiece>>,
): AsyncGenerator<readonly KubeValue[]> {
  const { store, reader } = source
  for (let piece = first; ;) {
    for (let from = 0; from < piece.items.length; from += stretch) {
      if (from > 0) await rest(source)
      const values = await reader.many(candidatesOf(source, selection, piece.items.slice(from, from + stretch)))
      const selected = await select(source, selection, values)
      if (selected.length > 0) yield selected
    }
    if (!piece.more) return
    await nextTurn(source)
    piece = await readPiece(store, selection, { revision: first.revision, after: piece.items.at(-1)?.key }, pieceSize)
  }
}

function candidatesOf(
  { reader }: Source,
  { matchesLabels }: Selection,
  items: readonly KeyValue[],
): readonly KeyValue[] {
  return matchesLabels === undefined ? items : reader.candidates(items, matchesLabels)
}

/** Parsing hundreds of objects takes longer than others may wait. */
async function select(
  source: Source,
  { matches }: Selection,
  values: readonly KubeValue[],
): Promise<readonly KubeValue[]> {
  if (matches === undefined) return values
  const selected: KubeValue[] = []
  for (const [index, value] of values.entries()) {
    if (index > 0 && index % glances === 0) await source.turn?.()
    if (matches(value)) selected.push(value)
  }
  return selected
}

/** Others get theirs first when this one's has lasted: looking through thousands for a few is quick. */
function rest(source: Source): Promise<void> | undefined {
  return source.pause === undefined ? nextTurn(source) : source.pause()
}

/** Others get theirs first. */
function nextTurn({ turn }: Source): Promise<void> {
  return turn?.() ?? new Promise((resolve) => setImmediate(resolve))
}

function readPiece(
  store: Store,
  { prefix }: Selection,
  { revision, after }: Place,
  limit: number,
  more: Pick<RangeOptions, "count" | "limitInMemory"> = {},
) {
  return store.range(prefix, {
    limit,
    ...more,
    ...(revision === undefined ? {} : { revision }),
    ...(after === undefined ? {} : { after }),
  })
}

async function readPage(
  source: Source,
  selection: Selection,
  place: Place,
  limit: number,
  isCounted: boolean,
): Promise<ListResult> {
  if (selection.key !== undefined) return readOne(source, selection, selection.key, place)
  const { store, reader } = source
  const items: KubeValue[] = []
  let { revision, after } = place
  for (;;) {
    const wanted = limit - items.length
    // What is left is only counted for lists that select nothing: then the first piece that fills the page tells.
    const size = selection.matches ? pieceSize : Math.min(pieceSize, wanted)
    const piece = await readPiece(store, selection, { revision, after }, size, {
      count: isCounted && !selection.matches && size === wanted,
    })
    revision ??= piece.revision
    const last = piece.items.at(-1)
    const candidates = candidatesOf(source, selection, piece.items)
    const values = await reader.many(candidates)
    for (const [index, value] of values.entries()) {
      if (selection.matches && !selection.matches(value)) continue
      items.push(value)
      if (items.length !== limit) continue
      const more = candidates[index] !== last || piece.more
      return page(selection, items, revision, more ? candidates[index]?.key : undefined, piece.remaining)
    }
    if (!piece.more) return page(selection, items, revision, undefined, undefined)
    after = last?.key ?? after
  }
}

function page(
  { base }: Selection,
  items: KubeValue[],
  revision: number,
  after: string | undefined,
  remaining: number | undefined,
): ListResult {
  const result: ListResult = { items, resourceVersion: String(revision) }
  if (after === undefined) return result
  result.continue = encodeContinue({ revision, after: after.slice(base.length) })
  if (remaining !== undefined) result.remainingItemCount = remaining
  return result
}

async function readOne(
  { store, reader }: Source,
  selection: Selection,
  key: string,
  { revision, after }: Place,
): Promise<ListResult> {
  const at = revision ?? store.revision
  const stored: KeyValue | undefined = after !== undefined && after >= key ? undefined : await store.get(key, revision)
  const values = stored === undefined ? [] : [...(await reader.many([stored]))]
  return {
    items: values.filter((value) => selection.matches === undefined || selection.matches(value)),
    resourceVersion: String(Math.max(at, stored?.modRevision ?? 0)),
  }
}

const tooMany = (count: number): StatusError =>
  requestEntityTooLarge(
    `the list has more than ${count} objects in a form that cannot be streamed: ask for pages, with limit`,
  )

function tooOld(cause: StorageError): StatusError {
  return new StatusError(expired("The resourceVersion for the provided list is too old.").status, { cause })
}

/** The 410 of a paged list carries a token to go on with, at the price of consistency. */
function tooOldButHere({ after }: ContinueToken, cause: StorageError): StatusError {
  const { status } = expired(tooOldToken)
  const token = encodeContinue({ revision: undefined, after })
  return new StatusError({ ...status, metadata: { continue: token } }, { cause })
}
