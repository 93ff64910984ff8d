import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** Collects all of it now: for tests of what is still held. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  collect()
}
