// What a request for a document says of the one its client has: whether to send it, and whether a part is enough. Source:
// checkPreconditions in Go's net/http, which follows RFC 7232, section 6.

import type { IncomingHttpHeaders } from "node:http"

interface Validators {
  /** Quoted, as in the header. */
  etag?: string
  /** To the second. */
  madeAt: Date
}

/** `failed`: not the document the client means. `known`: it has it already. Otherwise it is sent, or the range of it. */
type Condition = "failed" | "known" | { range: string | undefined }

export function conditionOf(
  headers: IncomingHttpHeaders,
  method: string | undefined,
  validators: Validators,
): Condition {
  const isRead = method === "GET" || method === "HEAD"
  const known = headers["if-none-match"]
  if (!meetsPreconditions(headers, validators)) return "failed"
  if (known !== undefined && known !== "") {
    if (names(known, validators.etag, matchesWeakly)) return isRead ? "known" : "failed"
  } else if (isRead && isUnmodifiedSince(headers["if-modified-since"], validators)) return "known"
  const range = headers.range
  return { range: range !== undefined && isRead && !isOfRange(headers["if-range"], validators) ? undefined : range }
}

/** Who names tags is not asked for times. */
function meetsPreconditions(headers: IncomingHttpHeaders, validators: Validators): boolean {
  const tags = headers["if-match"]
  if (tags !== undefined && tags !== "") return names(tags, validators.etag, isAlike)
  const since = headers["if-unmodified-since"]
  return Number.isNaN(timeOf(since)) || isUnmodifiedSince(since, validators)
}

function isOfRange(given: string | string[] | undefined, validators: Validators): boolean {
  if (typeof given !== "string" || given === "") return true
  const tag = tagPattern.exec(given)?.[0]
  return tag === undefined ? timeOf(given) === seconds(validators.madeAt) : isAlike(tag, validators.etag)
}

/** It was made then or before; never, if that is no time. */
function isUnmodifiedSince(time: string | undefined, { madeAt }: Validators): boolean {
  return seconds(madeAt) <= timeOf(time)
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1000) * 1000
}

const day = "[a-z]{3}"
const month = "(?<month>[a-z]{3})"
const clock = String.raw`(?<clock>\d\d?:\d\d:\d\d)`
/** RFC 7231, 7.1.1.1: what is written today, and two obsolete forms. */
const times = [
  String.raw`${day}, (?<date>\d\d) ${month} (?<year>\d{4}) ${clock} GMT`,
  String.raw`[a-z]{6,9}, (?<date>\d\d)-${month}-(?<year>\d\d) ${clock} [a-z]{3,4}`,
  String.raw`${day} ${month} (?<date>[ \d]\d) ${clock} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`, "i"))

/** NaN if it is none. */
function timeOf(text = ""): number {
  for (const form of times) {
    const { date = "", month: name = "", year = "", clock: time = "" } = form.exec(text)?.groups ?? {}
    // Of two digits, as Go.
    const century = year.length > 2 ? "" : year >= "69" ? "19" : "20"
    if (year !== "") return Date.parse(`${date} ${name} ${century}${year} ${time} GMT`)
  }
  return Number.NaN
}

/** RFC 7232, 2.3 */
const tagPattern = /^(?:W\/)?"[\x21\x23-\x7e\x80-\uffff]*"/

/** A list of tags, or `*`; what follows something else is not read. */
function names(list: string, etag: string | undefined, alike: (tag: string, etag?: string) => boolean): boolean {
  let rest = list.trim()
  while (rest !== "") {
    if (rest.startsWith("*")) return true
    const tag = rest.startsWith(",") ? "," : tagPattern.exec(rest)?.[0]
    if (tag === undefined) return false
    if (tag !== "," && alike(tag, etag)) return true
    rest = rest.slice(tag.length).trimStart()
  }
  return false
}

function isAlike(tag: string, etag?: string): boolean {
  return tag === etag && !tag.startsWith("W/")
}

function matchesWeakly(tag: string, etag?: string): boolean {
  return tag.replace(/^W\//, "") === etag
}
