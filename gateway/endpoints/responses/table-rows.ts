// Rows of a table as text, in which only the ages are missing: everything else about them changes with their objects only. So rows can be
// kept, and reading an object again, which takes most of the time, is not necessary for each request.

import { printJson } from "../../../apimachinery/go/print.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { Age } from "../../registry/columns/age.ts"
import type { TableColumn } from "../../registry/columns/table-column.ts"
import type { KubeValue } from "../../registry/generic/storage/value.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import { conditionsOf, endsInitialEvents, metadataText, type TableOptions } from "./table-output.ts"

interface Place {
  /** In the text without ages. */
  readonly at: number
  readonly age: Age
}

/** Estimated memory of a {@link Place}. */
const placeWeight = 128

export class PrintedRows {
  readonly #bytes: Buffer
  readonly #places: readonly Place[]

  constructor(bytes: Buffer, places: readonly Place[]) {
    this.#bytes = bytes
    this.#places = places
  }

  get weight(): number {
    return this.#bytes.length + this.#places.length * placeWeight
  }

  /** At this time (ms). */
  at(now: number): AgedRows {
    return new AgedRows(
      this.#bytes,
      this.#places,
      this.#places.map(({ age }) => printJson(age.text(now))),
    )
  }
}

/** Rows with their ages, and commas between them. */
export class AgedRows {
  readonly #bytes: Buffer
  readonly #places: readonly Place[]
  /** The ages in JSON, by place; ASCII. */
  readonly #ages: readonly string[]
  readonly length: number

  constructor(bytes: Buffer, places: readonly Place[], ages: readonly string[]) {
    this.#bytes = bytes
    this.#places = places
    this.#ages = ages
    this.length = ages.reduce((sum, age) => sum + age.length, bytes.length)
  }

  copyTo(target: Buffer, offset: number): void {
    let from = 0
    let to = offset
    for (const [index, { at }] of this.#places.entries()) {
      to += this.#bytes.copy(target, to, from, at)
      to += target.write(this.#ages[index] ?? "", to, "latin1")
      from = at
    }
    this.#bytes.copy(target, to, from)
  }
}

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

const comma = Buffer.from(",")
const closing = Buffer.from("}")

export class RowPrinter {
  readonly #rows: RowForm
  #chunks: Uint8Array[] = []
  #length = 0
  #places: Place[] = []

  constructor(rows: RowForm) {
    this.#rows = rows
  }

  /** In bytes, of what has not been taken. */
  get length(): number {
    return this.#length
  }

  add(value: KubeValue): void {
    const object = value.peek()
    if (this.#length > 0) this.#push(comma)
    let text = '{"cells":['
    for (const [index, column] of this.#rows.columns.entries()) {
      if (index > 0) text += ","
      const cell = column.cell(object)
      if (cell instanceof Age) {
        this.#push(Buffer.from(text))
        this.#places.push({ at: this.#length, age: cell })
        text = ""
      } else text += printJson(cell)
    }
    const conditions = conditionsOf(object, this.#rows.columns)
    if (conditions !== undefined) text += `],"conditions":${printJson(conditions)},"object":`
    else text += '],"object":'
    this.#push(Buffer.from(text))
    this.#push(this.#rows.objectOf(value, object))
    this.#push(closing)
  }

  take(): PrintedRows {
    const rows = new PrintedRows(Buffer.concat(this.#chunks), this.#places)
    this.#chunks = []
    this.#length = 0
    this.#places = []
    return rows
  }

  #push(bytes: Uint8Array): void {
    this.#chunks.push(bytes)
    this.#length += bytes.length
  }
}
