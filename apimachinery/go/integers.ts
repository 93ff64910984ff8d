// Parses integers like Go's strconv in base 10 and 64 bits, with its error messages.

import { goQuote } from "./quote.ts"
import { badRequest } from "../status.ts"

const maxUint64 = 2n ** 64n - 1n
/** Of such a number. */
const maxDigits = 20

export function parseInt64(text: string): bigint {
  const digits = text.replace(/^[+-]/, "")
  let fault = uintFault(digits)
  const value = fault === undefined ? BigInt(digits) * (text.startsWith("-") ? -1n : 1n) : 0n
  if (BigInt.asIntN(64, value) !== value) fault = outOfRange
  if (fault !== undefined) throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: ${fault}`)
  return value
}

const outOfRange = "value out of range"

/** What strconv.ParseUint finds wrong: a number is too large before what follows it is none. */
export function uintFault(text: string, max = maxUint64): string | undefined {
  const [digits = ""] = /^\d*/.exec(text) ?? []
  const significant = digits.replace(/^0+/, "")
  if (significant.length > maxDigits || BigInt(significant) > max) return outOfRange
  return text === "" || digits !== text ? "invalid syntax" : undefined
}
