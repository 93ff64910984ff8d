// Encodes a Table of a list: its head, and the rows in runs. Printed runs are cached (run-cache.ts), without their ages.

import type { RequestContext } from "../../request/context.ts"
import { awaitedPause } from "../../request/awaited.ts"
import { largeBytes } from "../../request/large-places.ts"
import { type Aside, type Deflated, deflateMade, newBuffer } from "./gzip-join.ts"
import { enclosed, joinInto, type Part } from "./list-body.ts"
import { type Run, type RunCache, runsOf } from "./run-cache.ts"
import { emptyRows, type ListMeta, tableHead, type TableOptions } from "./table-output.ts"
import type { AgedRows, PrintedRows } from "./printed-rows.ts"
import { type RowForm, RowPrinter, rowForm } from "./table-rows.ts"
import type { KubeValue } from "../../registry/generic/storage/value.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"

/** Rows are compressed and sent in parts of at least this size, since each part has a compressor of its own. */
const partBytes = 256 * 1024

/** A run with longer rows is not kept. */
const maxKeptBytes = largeBytes

type Turns = Pick<RequestContext, "pause" | "isOver" | "enlarge">

export function tableBody(
  ctx: Turns,
  definition: ResourceDefinition,
  meta: ListMeta,
  options: TableOptions,
  pieces: Iterable<Run> | AsyncIterable<Run>,
  cache: RunCache,
): AsyncGenerator<Part> {
  const { columns } = definition
  const parts = inParts(printedRuns(ctx, rowForm(definition, options), pieces, cache))
  return enclosed(tableHead(columns, meta, options), "rows", emptyRows(columns), parts)
}

async function* inParts(printed: AsyncIterable<PrintedRows>): AsyncGenerator<Part> {
  let part = new RowsPart()
  for await (const rows of printed) {
    part.add(rows.at(Date.now()))
    if (part.length < partBytes) continue
    yield part
    part = new RowsPart()
  }
  if (part.length > 0) yield part
}

async function* printedRuns(
  ctx: Turns,
  rows: RowForm,
  pieces: Iterable<Run> | AsyncIterable<Run>,
  cache: RunCache,
): AsyncGenerator<PrintedRows> {
  const printer = new RowPrinter(rows)
  for await (const run of runsOf(pieces)) {
    const known = cache.get(rows.form, run)?.rows
    if (known === undefined)
      yield* printing(ctx, printer, run, (printed) => cache.put(rows.form, run, { rows: printed }))
    else yield known
  }
}

/** `keep`: called with the rows if they are not too long. */
async function* printing(
  ctx: Turns,
  printer: RowPrinter,
  run: Run,
  keep: (rows: PrintedRows) => void,
): AsyncGenerator<PrintedRows> {
  /** The first row that has not been taken. */
  let from = 0
  const pause = awaitedPause(ctx)
  for (let index = 0; index < run.length; index++) {
    // Between any two rows: columns of custom resources may take milliseconds, however short their objects are.
    const turn = pause()
    if (turn !== undefined) await turn
    printer.add(run[index] as KubeValue)
    if (printer.length <= maxKeptBytes) continue
    const waiting = ctx.enlarge?.()
    if (waiting === undefined) {
      yield printer.take()
      from = index + 1
      continue
    }
    // Whoever waits until it may hold that much does not hold it meanwhile.
    printer.drop()
    await waiting
    index = from - 1
  }
  if (printer.length === 0) return
  const printed = printer.take()
  if (from === 0) keep(printed)
  yield printed
}

class RowsPart implements Part {
  readonly #rows: AgedRows[] = []
  #length = 0

  add(rows: AgedRows): void {
    this.#length += rows.length + (this.#rows.length > 0 ? 1 : 0)
    this.#rows.push(rows)
  }

  get length(): number {
    return this.#length
  }

  /** Once: the rows are released, since they may be long, and the client slow. */
  bytes(allocate = newBuffer): Buffer {
    if (this.#rows.length === 0) throw new Error("the bytes of these rows have been taken")
    const bytes = joinInto(allocate(this.#length), this.#rows, (rows, target, at) => {
      rows.copyTo(target, at)
      return rows.length
    })
    this.#rows.length = 0
    return bytes
  }

  deflated(aside: Aside): Promise<Deflated> {
    return aside(() => deflateMade((allocate) => this.bytes(allocate)))
  }
}
