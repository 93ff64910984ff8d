// Ranges of a store: entries of etcd and of the base layer, merged in order.

import { storedLengthOf } from "../base-layer.ts"
import { compareKeys } from "../key-order.ts"
import type { KeyValue, RangeOptions, RangeResult, Revision } from "../types.ts"
import { rangeEnd, type StoreKeys } from "./keys.ts"
import type { Layer } from "./layer.ts"
import type { RangeRequest, RangeResponse, WireKeyValue } from "./wire.ts"

interface Source {
  keys: StoreKeys
  layer: Layer
  read: Read
}

type Read = (request: RangeRequest, revision?: Revision) => Promise<RangeResponse>

/** Values of the first page, whose size is unknown; a value has up to 1.5 MiB. */
const firstPage = 16
/** The size of the next values is unknown, too. */
const largestPage = 128

export async function readRange(source: Source, prefix: string, options: RangeOptions): Promise<RangeResult> {
  const { keys, layer } = source
  const { after, limit, limitBytes, count = false } = options
  const start = keys.value(prefix)
  const end = rangeEnd(start)
  const begin = after === undefined || compareKeys(after, prefix) < 0 ? start : keys.value(`${after}\0`)
  // In etcd, limit 0 means no limit, so a request that only counts reads one key.
  const wanted = limit === undefined ? 0 : Math.max(limit, 1)
  const request = { key: begin, range_end: end, limit: wanted, keys_only: limit === 0 }
  const {
    kvs,
    header,
    more,
    count: total,
  } = limitBytes === undefined || limit === 0
    ? await source.read(request, options.revision)
    : await readPages(source.read, request, options.revision, limitBytes)
  const revision = options.revision ?? header.revision
  const values = valuesOf(source, kvs)
  const below = layer.keys(prefix, after)
  if (below.length === 0) {
    const items = limit === 0 ? [] : values
    const remaining = total - items.length
    return { items, bytes: storedLengthOf(items), revision, more: remaining > 0, ...(count ? { remaining } : {}) }
  }
  // Beyond the last value returned, it is unknown which keys of the base have a value in etcd.
  const last = more ? (values.at(-1)?.key ?? "") : undefined
  const known = last === undefined ? below : below.filter((key) => compareKeys(key, last) <= 0)
  const merged = layer.merge(values, known, revision)
  const items = limit === undefined ? merged : merged.slice(0, limit)
  const left = merged.length - items.length
  const bytes = storedLengthOf(items)
  if (!more) return { items, bytes, revision, more: left > 0, ...(count ? { remaining: left } : {}) }
  if (!count) return { items, bytes, revision, more: true }
  const beyond = await countBeyond(source, { prefix, last: last ?? "", end, revision }, below.length > known.length)
  return { items, bytes, revision, more: true, remaining: left + beyond }
}

/**
 * One range, which ends when its values have this length. etcd only limits the number of values, so it is read in pages, and each
 * page is as large as the average of the values before it allows.
 */
export async function readPages(
  read: Read,
  request: RangeRequest,
  at: Revision | undefined,
  limitBytes: number,
): Promise<RangeResponse> {
  const limit = request.limit === undefined || request.limit === 0 ? Infinity : request.limit
  const first = await read({ ...request, limit: Math.min(limit, firstPage) }, at)
  const revision = at ?? first.header.revision
  const kvs = [...first.kvs]
  let { more } = first
  for (let bytes = bytesOf(kvs); more && kvs.length < limit && bytes < limitBytes;) {
    const affordable = Math.ceil(((limitBytes - bytes) * kvs.length) / Math.max(bytes, 1))
    const size = Math.min(limit - kvs.length, largestPage, affordable)
    const key = keyAfter(kvs.at(-1)?.key ?? request.key)
    const page = await read({ ...request, key, limit: size }, revision)
    for (const kv of page.kvs) kvs.push(kv)
    bytes += bytesOf(page.kvs)
    more = page.more
  }
  return { ...first, kvs, more }
}

function bytesOf(kvs: readonly WireKeyValue[]): number {
  return kvs.reduce((sum, { value }) => sum + value.byteLength, 0)
}

/** The next possible key. */
export function keyAfter(key: Uint8Array): Buffer {
  return Buffer.concat([key, Buffer.of(0)])
}

interface Rest {
  prefix: string
  /** Counts the keys after this one. */
  last: string
  end: Buffer
  revision: Revision
}

/** `hasBelow`: the range contains keys of the base. */
async function countBeyond(source: Source, { prefix, last, end, revision }: Rest, hasBelow: boolean): Promise<number> {
  const { keys, layer } = source
  const request = { key: keys.value(`${last}\0`), range_end: end, keys_only: hasBelow }
  const { kvs, count } = await source.read(hasBelow ? request : { ...request, count_only: true }, revision)
  if (!hasBelow) return count
  return layer.merge(valuesOf(source, kvs), layer.keys(prefix, last), revision).length
}

function valuesOf({ keys, layer }: Source, kvs: readonly WireKeyValue[]): KeyValue[] {
  return kvs.map((kv) => layer.keyValue(kv.key.toString("utf8", keys.root.length + 1), kv))
}
