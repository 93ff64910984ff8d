// Lists at one point in time, complete or in pages, read in pieces (read-pieces.ts). Source of the rules:
// k8s.io/apiserver/pkg/storage/etcd3/store.go GetList.

import { expired, requestEntityTooLarge, restated, type StatusError } from "../../../../apimachinery/status.ts"
import { type KeyValue, StorageError, type Store } from "../../../../storage/types.ts"
import { type ContinueToken, decodeContinue, encodeContinue } from "./continue-token.ts"
import { checkContinue, checkListOptions, checkNotFuture, limitOf, parseListResourceVersion } from "./list-options.ts"
import { choose, type PieceSizes, type PiecesSource, pieceSize, readPiece, streamAt, stretches } from "./read-pieces.ts"
import { largeBytes } from "../../../request/large-places.ts"
import type { ListOptions, ListResult, ListStream, ResourceDefinition } from "../../rest.ts"
import { type Selection, selectionOf } from "./selection.ts"
import type { KubeValue } from "../storage/value.ts"

const tooOldToken =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
  "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
  "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted " +
  "between the time the first chunk was returned and now may show up in the list."

/** A page ends, as the API permits, before its limit when this many bytes have been read for it. */
const maxPageBytes = 32 * 1024 * 1024

interface Place {
  /** Undefined: the latest when the first piece is read. */
  revision: number | undefined
  /** The complete key. */
  after: string | undefined
  /** The number of items after it, if it has been counted. */
  remaining?: number | undefined
}

/** What a list reads from. */
interface Source extends PiecesSource {
  definition: ResourceDefinition
}

/** One page if there is a limit, otherwise everything. */
export function listObjects(source: Source, options: ListOptions): Promise<ListResult> {
  return prepared(source, options, async (selection, place, limit) => {
    const size = Math.min(limit, options.atMost ?? Infinity)
    if (limit > 0) return readPage(source, selection, place, size, options.uncounted !== true)
    let bytes = 0
    const collect = (more: number): void => void (bytes += more)
    const { resourceVersion, pieces } = await readAll({ ...source, collect }, selection, place)
    const items: KubeValue[] = []
    for await (const piece of pieces) {
      items.push(...piece)
      if (items.length > (options.atMost ?? Infinity)) throw tooMany(`${options.atMost} objects`)
      if (bytes > (options.atMostBytes ?? Infinity)) throw tooMany(`${options.atMostBytes} bytes`)
      if (bytes > largeBytes) await source.ctx.enlarge?.()
    }
    return { items, resourceVersion }
  })
}

/** Reads everything in pieces while the receiver consumes them. `options` has no limit. */
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
  const limit = limitOf(options, definition.customResource === undefined ? definition.resource : "")
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
  { base, key }: Selection,
  options: ListOptions,
  limit: number,
  token: ContinueToken | undefined,
): Promise<Place> {
  if (token !== undefined) {
    await checkNotFuture(token.revision, store, token.written)
    return { ...token, after: base + token.after }
  }
  const revision = parseListResourceVersion(options.resourceVersion)
  await checkNotFuture(revision, store, options.resourceVersion)
  // With a limit and without a match, a resource version is exact, but for a single object.
  const isPage = !options.resourceVersionMatch && limit > 0 && key === undefined
  const exact = options.resourceVersionMatch === "Exact" || isPage
  return { revision: exact ? revision : undefined, after: undefined }
}

async function readAll(source: Source, selection: Selection, place: Place): Promise<ListStream> {
  if (selection.key !== undefined) {
    const { items, resourceVersion } = await readOne(source, selection, selection.key, place)
    return { resourceVersion, pieces: [items] }
  }
  const { revision, pieces } = await streamAt(source, selection, place)
  const again = async () => (await streamAt(source, selection, { ...place, revision })).pieces
  return { resourceVersion: String(revision), pieces, again }
}

async function readPage(
  source: Source,
  selection: Selection,
  place: Place,
  limit: number,
  isCounted: boolean,
): Promise<ListResult> {
  if (selection.key !== undefined) return readOne(source, selection, selection.key, place)
  const items: KubeValue[] = []
  let bytes = 0
  // Remaining items are counted only for lists without selectors, in the piece that fills the first page.
  const sizes = (): PieceSizes => {
    const wanted = limit - items.length
    if (selection.matches !== undefined || wanted > pieceSize) return { limit: pieceSize }
    return { limit: wanted, count: isCounted && place.remaining === undefined }
  }
  const first = await readPiece(source, selection, place, sizes())
  const { revision } = first
  for await (const { values, stored, piece } of stretches(source, selection, first, sizes)) {
    const { chosen, end } = await choose(source.ctx, selection, { values, stored }, limit - items.length)
    items.push(...chosen)
    for (const { value } of stored.slice(0, end + 1)) bytes += value.length
    if (bytes > largeBytes) await source.ctx.enlarge?.()
    if (items.length < limit && bytes < maxPageBytes) continue
    const last = stored[end]?.key
    const isEnd = !piece.more && last === piece.items.at(-1)?.key
    if (isEnd || last === undefined) return page(selection, items, revision, undefined)
    // Whatever a client has made of its token, there is at least one.
    const counted = place.remaining === undefined ? piece.remaining : Math.max(1, place.remaining - items.length)
    const remaining = selection.matches === undefined ? counted : undefined
    return page(selection, items, revision, { after: last, remaining })
  }
  return page(selection, items, revision, undefined)
}

function page(
  { base }: Selection,
  items: KubeValue[],
  revision: number,
  rest: Omit<ContinueToken, "revision"> | undefined,
): ListResult {
  const result: ListResult = { items, resourceVersion: String(revision) }
  if (rest === undefined) return result
  const { after, remaining } = rest
  result.continue = encodeContinue({ revision, after: after.slice(base.length), remaining })
  if (remaining !== undefined) result.remainingItemCount = remaining
  return result
}

/** For a selection of a single object. */
export async function readOne(
  { store, reader }: Pick<Source, "store" | "reader">,
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

const tooMany = (limit: string): StatusError =>
  requestEntityTooLarge(`the list has more than ${limit} in a form that cannot be streamed: ask for pages, with limit`)

function tooOld(cause: StorageError): StatusError {
  return expired("The resourceVersion for the provided list is too old.", { cause })
}

/** The 410 of a paged list contains a token with which the client can continue without consistency. */
function tooOldButHere({ after }: ContinueToken, cause: StorageError): StatusError {
  const token = encodeContinue({ revision: undefined, after })
  return restated(expired(tooOldToken), { metadata: { continue: token } }, { cause })
}
