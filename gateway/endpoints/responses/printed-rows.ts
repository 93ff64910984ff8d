// Rows of a table as text, in which only the ages are missing: everything else about them changes with their objects only. So rows can be
// kept, and reading an object again, which takes most of the time, is not necessary for each request.

import { printJson } from "../../../apimachinery/go/print.ts"
import type { Age } from "../../registry/columns/age.ts"

export interface Place {
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
