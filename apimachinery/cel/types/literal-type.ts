// The type of a literal.

import { boolType, bytesType, doubleType, intType, nullType, stringType, type Type, uintType } from "./types.ts"
import { UInt } from "../values.ts"

export function literalType(value: unknown): Type {
  switch (typeof value) {
    case "boolean":
      return boolType
    case "bigint":
      return intType
    case "number":
      return doubleType
    case "string":
      return stringType
    default:
      if (value === null) return nullType
      return value instanceof UInt ? uintType : bytesType
  }
}
