// Parses integers like Go's strconv.ParseInt in base 10 and 64 bits, with its error messages.

import { goQuote } from "./quote.ts"
import { badRequest } from "../status.ts"

export function parseInt64(text: string): bigint {
  const quoted = goQuote(text)
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quoted}: invalid syntax`)
  const value = text.length > 64 ? undefined : BigInt(text.replace(/^\+/, ""))
  if (value === undefined || BigInt.asIntN(64, value) !== value)
    throw badRequest(`strconv.ParseInt: parsing ${quoted}: value out of range`)
  return value
}
