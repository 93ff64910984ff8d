// A list: one point in time, whole or in pages, read in pieces so that other requests get their turn.
// Source of the rules: k8s.io/apiserver/pkg/storage/etcd3/store.go GetList.

import { StatusError, expired } from "../../apimachinery/status.ts"
import { type KeyValue, StorageError, type Store } from "../../storage/types.ts"
import { type ContinueToken, decodeContinue, encodeContinue } from "./continue-token.ts"
import { checkListOptions, checkNotFuture, parseResourceVersion } from "./list-options.ts"
import type { ListOptions, ListResult, ResourceDefinition } from "./rest.ts"
import { type Selection, selectionOf } from "./selection.ts"
import type { KubeValue } from "./value.ts"
import type { ValueReader } from "./value-reader.ts"

/** Objects read from the store at once. */
const pieceSize = 500

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

export async function listObjects(
  store: Store,
  definition: ResourceDefinition,
  reader: ValueReader,
  options: ListOptions,
): Promise<ListResult> {
  checkListOptions(options)
  const selection = selectionOf(definition, options)
  const token = options.continue ? decodeContinue(options.continue) : undefined
  const place = placeOf(store, definition, options, token)
  try {
    return await readPage(store, definition, reader, selection, place, options.limit ?? 0)
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== "Compacted") throw error
    throw token === undefined ? tooOld(error) : tooOldButHere(token, error)
  }
}

function placeOf(
  store: Store,
  { storagePrefix }: ResourceDefinition,
  options: ListOptions,
  token: ContinueToken | undefined,
): Place {
  if (token !== undefined) return { revision: token.revision, after: storagePrefix + token.after }
  const revision = parseResourceVersion(options.resourceVersion)
  checkNotFuture(revision, store.revision)
  // With a limit and no match given, a resource version means exactly that one.
  const exact = options.resourceVersionMatch === "Exact" || (!options.resourceVersionMatch && (options.limit ?? 0) > 0)
  return { revision: exact ? revision : undefined, after: undefined }
}

async function readPage(
  store: Store,
  definition: ResourceDefinition,
  reader: ValueReader,
  selection: Selection,
  place: Place,
  limit: number,
): Promise<ListResult> {
  if (selection.key !== undefined) return readOne(store, reader, selection, selection.key, place)
  const items: KubeValue[] = []
  let { revision, after } = place
  for (;;) {
    const wanted = limit > 0 ? limit - items.length : Infinity
    const size = Math.min(pieceSize, selection.matches ? pieceSize : wanted)
    const last = size === wanted
    const piece = await store.range(selection.prefix, {
      limit: size,
      count: last && !selection.matches,
      ...(revision === undefined ? {} : { revision }),
      ...(after === undefined ? {} : { after }),
    })
    revision ??= piece.revision
    const values = await reader.many(piece.items)
    for (const [index, value] of values.entries()) {
      after = piece.items[index]?.key ?? after
      if (selection.matches && !selection.matches(value.object())) continue
      items.push(value)
      if (items.length !== limit) continue
      const more = index < values.length - 1 || piece.more
      return page(definition, items, revision, more ? after : undefined, piece.remaining)
    }
    if (!piece.more) return page(definition, items, revision, undefined, undefined)
  }
}

function page(
  { storagePrefix }: ResourceDefinition,
  items: KubeValue[],
  revision: number,
  after: string | undefined,
  remaining: number | undefined,
): ListResult {
  const result: ListResult = { items, resourceVersion: String(revision) }
  if (after === undefined) return result
  result.continue = encodeContinue({ revision, after: after.slice(storagePrefix.length) })
  if (remaining !== undefined) result.remainingItemCount = remaining
  return result
}

async function readOne(
  store: Store,
  reader: ValueReader,
  selection: Selection,
  key: string,
  { revision, after }: Place,
): Promise<ListResult> {
  const at = revision ?? store.revision
  const stored: KeyValue | undefined = after !== undefined && after >= key ? undefined : await store.get(key, revision)
  const values = stored === undefined ? [] : [...(await reader.many([stored]))]
  return {
    items: values.filter((value) => selection.matches === undefined || selection.matches(value.object())),
    resourceVersion: String(Math.max(at, stored?.modRevision ?? 0)),
  }
}

function tooOld(cause: StorageError): StatusError {
  return new StatusError(expired("The provided resource version is too old.").status, { cause })
}

/** The 410 of a paged list carries a token to go on with, at the price of consistency. */
function tooOldButHere({ after }: ContinueToken, cause: StorageError): StatusError {
  const { status } = expired(tooOldToken)
  return new StatusError(
    { ...status, metadata: { continue: encodeContinue({ revision: undefined, after }) } },
    { cause },
  )
}
