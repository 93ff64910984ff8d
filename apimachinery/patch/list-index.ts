// Indexes of list items in JSON patches, parsed like Go's strconv.Atoi, with the messages of upstream's library. Source:
// gopkg.in/evanphx/json-patch.v4.

import { goQuote } from "../go/quote.ts"

/** A place within an object or list that does not exist; the caller adds the operation and its path. */
export class PlaceFault extends Error {}

const largest = 2n ** 63n

/** The index of an existing item. Negative indexes count from the end. */
export function indexOfItem(key: string, length: number): number {
  const at = parse(key, "")
  if (at < -length || at >= length) throw outOfRange(at)
  return at < 0 ? at + length : at
}

/** Where a new item is inserted. Negative indexes count from the end of the new list. */
export function indexOfInsertion(key: string, length: number): number {
  if (key === "-") return length
  const at = parse(key, `value was not a proper array index: '${key}': `)
  if (at < -(length + 1) || at > length) throw outOfRange(at)
  return at < 0 ? at + length + 1 : at
}

function outOfRange(at: bigint | number): PlaceFault {
  return new PlaceFault(`Unable to access invalid index: ${at}: invalid index referenced`)
}

/** Whether it is a number that a list could have as index or not. */
function parse(key: string, prefix: string): number {
  const fault = (why: string): PlaceFault => new PlaceFault(`${prefix}strconv.Atoi: parsing ${goQuote(key)}: ${why}`)
  const [, sign, given] = /^([+-]?)(\d+)$/.exec(key) ?? []
  if (given === undefined) throw fault("invalid syntax")
  const digits = given.replace(/^0+(?=\d)/, "")
  // Longer ones need not be parsed.
  if (digits.length > 19) throw fault("value out of range")
  const number = sign === "-" ? -BigInt(digits) : BigInt(digits)
  if (number >= largest || number < -largest) throw fault("value out of range")
  if (digits.length > 15) throw outOfRange(number)
  return Number(number)
}
