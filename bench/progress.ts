// Reports a bench's progress on standard error; the table and the line of JSON are on standard output.

const everyMs = 2_000

let last = ""
let said = 0

/** Prints a new text at once, and the progress (`done` of `all`) every two seconds. */
export function progress(what: string, done?: number, all?: number): void {
  const now = performance.now()
  if (what === last && now - said < everyMs) return
  last = what
  said = now
  process.stderr.write(done === undefined ? `${what} …\n` : `${what}: ${done} of ${all} …\n`)
}
