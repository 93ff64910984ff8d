// Some frames of a byte stream in other words; all others pass as they come, also while they are incomplete.

import type { Translate } from "../../client/http/upgrade.ts"

/** Of a frame that is translated as a whole. */
const maxFrameBytes = 1024 * 1024

export interface Frame {
  /** With its header. */
  size: number
  /** It is translated when it is complete. */
  whole: boolean
}

/**
 * `begin`: called with what there is of a frame; undefined if it must see more. `translate`: called once for each complete frame that
 * is wanted whole; what it returns is sent instead. Both throw at what no such protocol allows.
 */
export function translateFrames(
  begin: (bytes: Buffer) => Frame | undefined,
  translate: (frame: Buffer) => Buffer,
): Translate {
  let kept: Buffer = Buffer.alloc(0)
  let passing = 0
  return (piece) => {
    const out: Buffer[] = []
    let rest = kept.length === 0 ? piece : Buffer.concat([kept, piece])
    while (rest.length > 0) {
      if (passing === 0) {
        const frame = begin(rest)
        if (frame === undefined) break
        if (frame.whole) {
          if (frame.size > maxFrameBytes) throw new Error(`a frame of ${frame.size} bytes cannot be translated`)
          if (rest.length < frame.size) break
          out.push(translate(rest.subarray(0, frame.size)))
          rest = rest.subarray(frame.size)
          continue
        }
        passing = frame.size
      }
      const passed = rest.subarray(0, passing)
      passing -= passed.length
      out.push(passed)
      rest = rest.subarray(passed.length)
    }
    kept = rest
    return out.length === 1 && out[0] !== undefined ? out[0] : Buffer.concat(out)
  }
}
