// Some frames of a byte stream in other words; all others pass as they come, also while they are incomplete.

import type { Translate } from "../../client/http/join.ts"

/** Of a frame that is translated as a whole. */
const maxFrameBytes = 1024 * 1024
const none = Buffer.alloc(0)

export interface Frame {
  /** With its header. */
  size: number
  /** It is translated when it is complete. */
  whole: boolean
}

/**
 * `begin`: called with what there is of a frame, until it has seen enough; undefined if it must see more. `translate`: called once for each complete frame that
 * is wanted whole; what it returns is sent instead. Both throw at what no such protocol allows.
 */
export function translateFrames(
  begin: (bytes: Buffer) => Frame | undefined,
  translate: (frame: Buffer) => Buffer,
): Translate {
  /** The beginning of a header. */
  let kept: Buffer = none
  /** A frame that is wanted whole, as far as it has come. */
  let whole: { bytes: Buffer; filled: number } | undefined
  /** What is left of a frame that passes. */
  let passing = 0
  return (piece) => {
    const out: Buffer[] = []
    let rest = kept.length === 0 ? piece : Buffer.concat([kept, piece])
    kept = none
    while (rest.length > 0) {
      if (whole === undefined && passing === 0) {
        const frame = begin(rest)
        if (frame === undefined) {
          kept = rest
          break
        }
        if (frame.whole) whole = { bytes: placeFor(frame), filled: 0 }
        else passing = frame.size
      }
      if (whole === undefined) {
        const passed = rest.subarray(0, passing)
        passing -= passed.length
        out.push(passed)
        rest = rest.subarray(passed.length)
      } else {
        const taken = rest.copy(whole.bytes, whole.filled)
        whole.filled += taken
        rest = rest.subarray(taken)
        if (whole.filled < whole.bytes.length) break
        out.push(translate(whole.bytes))
        whole = undefined
      }
    }
    return out.length === 1 && out[0] !== undefined ? out[0] : Buffer.concat(out)
  }
}

function placeFor({ size }: Frame): Buffer {
  if (size > maxFrameBytes) throw new Error(`a frame of ${size} bytes cannot be translated`)
  return Buffer.allocUnsafe(size)
}
