// The versions of a kind, for what compares or merges objects in several of them.

import type { Json } from "../object.ts"
import { TypeErrors } from "./configuration.ts"
import type { MergeType } from "./merge-type.ts"

/** Types of a kind's versions, and conversion between versions. */
export interface Versions {
  /** undefined if the version is not served. */
  typeIn(apiVersion: string): MergeType | undefined
  /**
   * Converts to version `to`. The object is not changed; the result may be the same object. Throws TypeErrors if it does not fit its
   * version's type.
   */
  convert(object: Json, from: string, to: string): Json | Promise<Json>
}

/** If the conversion of an object fails, the error says what the conversion was for. */
export async function during(what: string, convert: () => Json | Promise<Json>): Promise<Json> {
  try {
    return await convert()
  } catch (error) {
    if (error instanceof TypeErrors) throw new TypeErrors([`${what}: ${error.message}`], "conversion")
    throw error
  }
}
