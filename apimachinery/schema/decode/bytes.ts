// Decoding of bytes (decode.ts): base64 in a string or, as Go's decoder also accepts, a list of numbers.

import type { Json } from "../../object.ts"
import { Mismatch, notParts, what } from "./errors.ts"
import { decodeInteger, type NumberPlace } from "./numbers.ts"
import { canonicalScalar, ScalarError } from "../scalars.ts"
import type { Schema } from "../schema.ts"

const uint8: Schema = { type: "integer", format: "uint8" }

interface BytesPlace extends NumberPlace {
  path: (string | number)[]
}

export function decodeBytes(schema: Schema, value: Json, walk: BytesPlace): string {
  if (Array.isArray(value)) return bytesOfList(value, walk).toString("base64")
  if (typeof value !== "string") throw notParts(walk.path, value, schema)
  try {
    return canonicalScalar("byte", value)
  } catch (error) {
    // Upstream converts a string in memory by writing it as JSON and decoding that.
    if (!walk.converts || !(error instanceof ScalarError)) throw error
    throw new ScalarError(`error decoding from json: ${error.message}`, { cause: error })
  }
}

function bytesOfList(list: readonly Json[], walk: BytesPlace): Buffer {
  const bytes = Buffer.alloc(list.length)
  const depth = walk.path.length
  for (const [index, item] of list.entries()) {
    walk.path[depth] = index
    bytes[index] = item === null ? 0 : decodeByte(item, walk)
  }
  walk.path.length = depth
  return bytes
}

/** A value from memory is truncated to 8 bits; in JSON it must fit. */
function decodeByte(value: Json, walk: BytesPlace): number {
  const integer = decodeInteger(uint8, value, walk)
  if (walk.converts) return Number(BigInt.asUintN(8, BigInt(integer)))
  if (integer < 0 || integer > 255) throw new Mismatch(walk.path, `${what(value)} ${integer}`, uint8)
  return Number(integer)
}
