// What a bench is doing, for who waits for it. On standard error: the table and the line of JSON are on standard output.

const everyMs = 2_000

let last = ""
let said = 0

/** Something new is said at once, and how far it is (`done` of `all`) every two seconds. */
export function progress(what: string, done?: number, all?: number): void {
  const now = performance.now()
  if (what === last && now - said < everyMs) return
  last = what
  said = now
  process.stderr.write(done === undefined ? `${what} …\n` : `${what}: ${done} of ${all} …\n`)
}
