// The state of one decoding.

import type { JsonObject } from "../json-object.ts"
import type { ScalarError } from "../scalars.ts"
import type { Mismatch } from "./errors.ts"
import type { NumberPlace } from "./numbers.ts"

export interface Walk extends NumberPlace {
  /** The current path. */
  path: (string | number)[]
  /** Paths of unknown fields; undefined if they are not collected. */
  unknown: (readonly (string | number)[])[] | undefined
  /** The error to report at the end, unless another one ends the decoding before. */
  fault: Mismatch | ScalarError | undefined
  /** Times are canonical already. Those of the year 10000, to which an offset leads, could not be read a second time. */
  keepsTimes: boolean
  /** The map decoded last in which there is something: to be asked for that once more it would list all its keys. */
  filled?: JsonObject
  /** Lists of resources are kept in thousandths. Amounts of devices are not of that type, and are kept exactly. */
  roundsAmounts: boolean
}
