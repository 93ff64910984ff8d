// Thins out a log: something that fails many times a second, such as each request to a damaged store, must neither fill a disk nor
// hide other lines.

import { remember } from "../../apimachinery/remember.ts"
import { beginningOf } from "../../apimachinery/texts.ts"
import type { Log, LogFields } from "../../client/log.ts"

/** Of equal warnings and errors, the first is logged, and then one in this time. */
const intervalMs = 10_000
/** Texts that are remembered. Beyond: the one that was logged least recently is forgotten, so that it is logged again. */
const maxTexts = 1000
/** Beginnings of texts that are remembered: tenants choose some of them, such as the messages of their webhooks. */
const maxCharacters = 2000

interface Logged {
  atMs: number
  /** Since then. */
  leftOut: number
}

/** A line after others that were left out has their number as `repeats`. */
export function withoutRepeats(log: Log, now: () => number = () => performance.now()): Log {
  const recent = new Map<string, Logged>()
  const once =
    (level: "warn" | "error") =>
    (fields: LogFields, message: string): void => {
      const text = beginningOf(`${level} ${message} ${textOf(fields)}`, maxCharacters)
      const before = recent.get(text)
      if (before !== undefined && now() - before.atMs < intervalMs) {
        before.leftOut++
        return
      }
      remember(recent, text, { atMs: now(), leftOut: 0 }, maxTexts)
      const repeats = before?.leftOut ?? 0
      log[level](repeats === 0 ? fields : { ...fields, repeats }, message)
    }
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: once("warn"),
    error: once("error"),
  }
}

/** Numbers are left out: they count failures, or identify a request. */
function textOf(fields: LogFields): string {
  const texts = Object.entries(fields).map(([name, value]) => {
    if (value instanceof Error) return `${name}=${value.message}`
    return typeof value === "number" ? "" : `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`
  })
  return texts.join(" ")
}
