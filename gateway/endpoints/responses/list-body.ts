// Encodes a list: its head, the items in runs, and its end. JSON items are the stored bytes, or their metadata, copied once; protobuf
// items are messages. Encoded runs are cached (run-cache.ts).

import { printJson } from "../../../apimachinery/go/print.ts"
import { type Json, printGroupVersion } from "../../../apimachinery/object.ts"
import { schemaOfType } from "../../../apimachinery/schema/facts.ts"
import { encodeMessage, envelope, fieldHead } from "../../../apimachinery/schema/protobuf/encode.ts"
import type { ListStream, ResourceDefinition } from "../../registry/rest.ts"
import { storedHead } from "../../registry/generic/storage/stored-form.ts"
import type { KubeValue } from "../../registry/generic/storage/value.ts"
import { takeTurn } from "../../request/awaited.ts"
import type { RequestContext } from "../../request/context.ts"
import { largeBytes } from "../../request/large-places.ts"
import { type Allocate, type Aside, type Deflated, deflateMade, newBuffer } from "./gzip-join.ts"
import { type Run, type RunCache, runsOf } from "./run-cache.ts"

/** A part of a body. */
export interface Part {
  readonly length: number
  /** The uncompressed bytes. */
  bytes(): Uint8Array
  /** Set if the part is worth compressing. */
  deflated?(aside: Aside): Promise<Deflated>
}

const openingBrace = 0x7b
const comma = 0x2c
const opening = plain(Buffer.from("["))
const closing = plain(Buffer.from("]}\n"))
const separator = plain(Buffer.from(","))

/** How items of a list are written in JSON. */
export interface ItemTexts {
  /** Cache key: equal forms produce equal texts. */
  readonly form: string
  /** The texts, with commas between them. */
  join(run: Run, allocate: Allocate): Buffer
  /** Its length, if that is known without it. */
  lengthOf?(run: Run): number
}

export function wholeTexts(definition: ResourceDefinition): ItemTexts {
  const start = itemStart(definition)
  const lengthOf = (run: Run): number => run.reduce((sum, item) => sum + item.length - start + 1, -1)
  return { form: `json ${start > 0}`, lengthOf, join: (run, allocate) => joined(run, start, allocate(lengthOf(run))) }
}

class RunPart implements Part {
  readonly #run: Run
  readonly #texts: ItemTexts
  readonly #cache: RunCache
  #bytes: Buffer | undefined

  constructor(run: Run, texts: ItemTexts, cache: RunCache) {
    this.#run = run
    this.#texts = texts
    this.#cache = cache
  }

  get length(): number {
    return this.#texts.lengthOf?.(this.#run) ?? this.bytes().length
  }

  bytes(): Buffer {
    return (this.#bytes ??= this.#texts.join(this.#run, newBuffer))
  }

  deflated(aside: Aside): Promise<Deflated> {
    const make = (allocate: Allocate): Buffer => this.#bytes ?? this.#texts.join(this.#run, allocate)
    return cachedDeflated(this.#cache, this.#texts.form, this.#run, make, aside)
  }
}

/** `head` is the list without its items; `empty`: what stands in their place if there are none. */
export function listBody(
  head: object,
  texts: ItemTexts,
  pieces: Iterable<Run> | AsyncIterable<Run>,
  cache: RunCache,
  empty: Empty = "[]",
): AsyncGenerator<Part> {
  return enclosed(head, "items", empty, textParts(texts, pieces, cache))
}

async function* textParts(
  texts: ItemTexts,
  pieces: Iterable<Run> | AsyncIterable<Run>,
  cache: RunCache,
): AsyncGenerator<Part> {
  for await (const run of runsOf(pieces)) yield new RunPart(run, texts, cache)
}

/** An empty list in JSON. */
export type Empty = "[]" | "null"

/** `head`, with the items in `parts` under `key`. */
export async function* enclosed(
  head: object,
  key: string,
  empty: Empty,
  parts: AsyncIterable<Part>,
): AsyncGenerator<Part> {
  yield plain(Buffer.from(`${printJson(head).slice(0, -1)},"${key}":`))
  let isFirst = true
  for await (const part of parts) {
    yield isFirst ? opening : separator
    isFirst = false
    yield part
  }
  yield isFirst ? plain(Buffer.from(`${empty}}\n`)) : closing
}

const listMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"

/** How items of a list are encoded in protobuf. */
export interface ItemMessages {
  /** Cache key: equal forms produce equal messages. */
  readonly form: string
  readonly messageOf: (value: KubeValue) => Uint8Array
  /** The numbers of the list's fields, if they are not those of most lists. */
  readonly numbers?: typeof usualNumbers
}

const usualNumbers = { metadata: 1, items: 2 }

export function wholeMessages({ schema }: Pick<ResourceDefinition, "schema">): ItemMessages {
  return { form: "protobuf", messageOf: (value) => encodeMessage(schema, value.peek() as unknown as Json) }
}

/** Encoded runs of one list that are kept until they are sent. */
const maxKeptBytes = 16 * 1024 * 1024

/**
 * A protobuf message starts with its length, so all items are encoded before the first byte is sent. Those of a very long list are then
 * read and encoded once more.
 */
export async function* protobufListBody(
  ctx: Pick<RequestContext, "pause" | "isOver" | "enlarge">,
  { kind, apiVersion, metadata }: { kind: string; apiVersion: string; metadata: object },
  items: ItemMessages,
  { pieces, again }: Pick<ListStream, "pieces" | "again">,
  cache: RunCache,
): AsyncGenerator<Part> {
  const listMeta = schemaOfType(listMetaName)
  if (listMeta === undefined) throw new Error(`the facts have no ${listMetaName}`)
  const meta = encodeMessage(listMeta, metadata as Json)
  const { metadata: number } = items.numbers ?? usualNumbers
  const parts: Part[] = [plain(Buffer.concat([fieldHead(number, meta.length), meta]))]
  let length = parts[0]?.length ?? 0
  let isKept = true
  let keptRuns = 0
  for await (const run of runsOf(pieces)) {
    await takeTurn(ctx)
    const part = messagesPart(cache, items, run)
    length += part.length
    if (length > largeBytes) await ctx.enlarge?.()
    isKept &&= length <= maxKeptBytes || again === undefined
    if (!isKept) continue
    keptRuns++
    parts.push(part)
  }
  const { head, tail } = envelope(apiVersion, kind, length)
  yield plain(head)
  for (const part of parts) {
    yield part
    length -= part.length
  }
  parts.length = 0
  // The ends of runs depend on the objects only.
  if (!isKept && again !== undefined) {
    for await (const run of runsOf(await again())) {
      if (keptRuns-- > 0) continue
      await takeTurn(ctx)
      const part = messagesPart(cache, items, run)
      yield part
      length -= part.length
    }
  }
  if (length !== 0) throw new Error(`a list has other items when it is read again: ${length} bytes`)
  yield plain(tail)
}

function messagesPart(cache: RunCache, items: ItemMessages, run: Run): Part {
  const bytes = cachedMessages(cache, items, run)
  return {
    length: bytes.length,
    bytes: () => bytes,
    deflated: (aside) => cachedDeflated(cache, `compressed ${items.form}`, run, () => bytes, aside),
  }
}

function plain(bytes: Uint8Array): Part {
  return { length: bytes.length, bytes: () => bytes }
}

type Make = Parameters<typeof deflateMade>[0]

async function cachedDeflated(cache: RunCache, form: string, run: Run, make: Make, aside: Aside): Promise<Deflated> {
  const known = cache.get(form, run)
  // Who waits for another's compression needs no place of its own.
  return known?.deflated ?? known?.deflating ?? aside(() => sharedDeflated(cache, form, run, make))
}

async function sharedDeflated(cache: RunCache, form: string, run: Run, make: Make): Promise<Deflated> {
  // Another request may have compressed the run while this one waited for its turn.
  const known = cache.get(form, run)
  if (known?.deflated !== undefined) return known.deflated
  if (known?.deflating !== undefined) return known.deflating
  const deflating = deflateMade(make)
  cache.put(form, run, { deflating })
  try {
    const deflated = await deflating
    cache.put(form, run, { deflated })
    return deflated
  } catch (error) {
    cache.put(form, run, {})
    throw error
  }
}

function cachedMessages(cache: RunCache, { form, messageOf, numbers = usualNumbers }: ItemMessages, run: Run): Buffer {
  const known = cache.get(form, run)?.bytes
  if (known !== undefined) return known
  const messages: Uint8Array[] = []
  for (const item of run) {
    const message = messageOf(item)
    messages.push(fieldHead(numbers.items, message.length), message)
  }
  const bytes = Buffer.concat(messages)
  cache.put(form, run, { bytes })
  return bytes
}

const starts = new WeakMap<ResourceDefinition, number>()

/** Items of built-in lists omit kind and apiVersion: the number of bytes to skip, without the brace. */
function itemStart(definition: ResourceDefinition): number {
  const { kind, group, version, customResource } = definition
  if (customResource !== undefined) return 0
  let start = starts.get(definition)
  if (start === undefined) {
    start = storedHead(kind, printGroupVersion({ group, version })).length - 1
    starts.set(definition, start)
  }
  return start
}

/** Joins the items with commas; `start`: what of each is skipped. */
function joined(items: Run, start: number, bytes: Buffer): Buffer {
  return joinInto(bytes, items, (item, target, at) => {
    item.copyTo(target, at, start)
    target[at] = openingBrace
    return item.length - start
  })
}

/** Writes the items into `bytes`, which has room for them, with commas between them. `write` returns the length of what it has written. */
export function joinInto<T>(
  bytes: Buffer,
  items: readonly T[],
  write: (item: T, target: Buffer, at: number) => number,
): Buffer {
  let at = 0
  for (const [index, item] of items.entries()) {
    if (index > 0) bytes[at++] = comma
    at += write(item, bytes, at)
  }
  return bytes
}
