// Prints rows of a table, without their ages (printed-rows.ts).

import { printJson } from "../../../apimachinery/go/print.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { requestEntityTooLarge } from "../../../apimachinery/status.ts"
import { Age } from "../../registry/columns/age.ts"
import type { Cell, TableColumn } from "../../registry/columns/table-column.ts"
import type { KubeValue } from "../../registry/generic/storage/value.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import { type Place, PrintedRows } from "./printed-rows.ts"
import { conditionsOf, endsInitialEvents, metadataText, type TableOptions } from "./table-output.ts"

/** How rows of a table are printed. */
export interface RowForm {
  /** Cache key: equal forms produce equal rows. */
  readonly form: string
  readonly columns: readonly TableColumn[]
  /** The row's object in JSON. */
  objectOf(value: KubeValue, object: KubeObject): Uint8Array
}

const noObject = Buffer.from("null")

export function rowForm(definition: ResourceDefinition, { include, metaVersion }: TableOptions): RowForm {
  const { columns } = definition
  const textOf = metadataText(definition, metaVersion)
  return {
    form: `table ${idOf(columns)} ${include} ${metaVersion}`,
    columns,
    objectOf(value, object) {
      if (include === "Object") return value.bytes()
      return include === "Metadata" || endsInitialEvents(object) ? textOf(value) : noObject
    },
  }
}

/** The columns of custom resources may be replaced while their objects stay. */
const ids = new WeakMap<readonly TableColumn[], number>()
let lastId = 0

function idOf(columns: readonly TableColumn[]): number {
  let id = ids.get(columns)
  if (id === undefined) ids.set(columns, (id = ++lastId))
  return id
}

/** In a row. Beyond: 413, or the end of a response that has begun. A hundred columns may show the whole object each. */
const maxCellsBytes = 4 * 1024 * 1024

const firstBytes = 8 * 1024
/** A longer buffer is not used again. */
const maxReusedBytes = 1024 * 1024
/** Characters of cells that are printed together. */
const portion = 64 * 1024

/** Prints rows one after the other into one buffer. */
export class RowPrinter {
  readonly #rows: RowForm
  #buffer = Buffer.allocUnsafe(firstBytes)
  #length = 0
  #places: Place[] = []

  constructor(rows: RowForm) {
    this.#rows = rows
  }

  /** In bytes, of what has not been taken. */
  get length(): number {
    return this.#length
  }

  /** Throws RequestEntityTooLarge. */
  add(value: KubeValue): void {
    const object = value.peek()
    const begin = this.#length
    this.#cells(object, begin > 0 ? ',{"cells":[' : '{"cells":[')
    const conditions = conditionsOf(object, this.#rows.columns)
    this.#write(conditions === undefined ? '],"object":' : `],"conditions":${printJson(conditions)},"object":`)
    const shown = this.#rows.objectOf(value, object)
    this.#reserve(shown.length)
    this.#buffer.set(shown, this.#length)
    this.#length += shown.length
    this.#write("}")
  }

  /** The cells between two ages are printed together, unless they are long. */
  #cells(object: KubeObject, before: string): void {
    const begin = this.#length
    let text = before
    let comma = ""
    let cells: Cell[] = []
    let length = 0
    for (const column of this.#rows.columns) {
      const cell = column.cell(object)
      const isAge = cell instanceof Age
      if (!isAge) {
        cells.push(cell)
        length += typeof cell === "string" ? cell.length : 0
        if (length < portion) continue
      }
      if (cells.length > 0) {
        text += comma + listed(cells)
        comma = ","
      }
      if (isAge) text += comma
      this.#write(text)
      if (isAge) {
        this.#places.push({ at: this.#length, age: cell })
        comma = ","
      }
      checkCells(this.#length - begin)
      text = ""
      cells = []
      length = 0
    }
    this.#write(cells.length === 0 ? text : text + comma + listed(cells))
  }

  /** Not from Node's pool: what is kept would keep 64 KiB of the pool. */
  take(): PrintedRows {
    const bytes = Buffer.allocUnsafeSlow(this.#length)
    this.#buffer.copy(bytes, 0, 0, this.#length)
    const rows = new PrintedRows(bytes, this.#places)
    this.drop()
    return rows
  }

  /** Forgets what has not been taken. */
  drop(): void {
    this.#length = 0
    this.#places = []
    if (this.#buffer.length > maxReusedBytes) this.#buffer = Buffer.allocUnsafe(firstBytes)
  }

  #write(text: string): void {
    this.#reserve(text.length > firstBytes ? Buffer.byteLength(text) : 3 * text.length)
    this.#length += this.#buffer.write(text, this.#length)
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}

function listed(cells: readonly Cell[]): string {
  return printJson(cells).slice(1, -1)
}

function checkCells(bytes: number): void {
  if (bytes > maxCellsBytes)
    throw requestEntityTooLarge(
      `the cells of a row have more than ${maxCellsBytes} bytes: ask for the objects themselves`,
    )
}
