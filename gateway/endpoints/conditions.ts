// What a request for a document says of the one its client has: whether to send it, and whether a part is enough. Source:
// checkPreconditions in Go's net/http, which follows RFC 7232, section 6.

import type { IncomingHttpHeaders } from "node:http"

export interface Told {
  /** Quoted, as it is told. */
  etag?: string
  /** To the second. */
  madeAt: Date
}

/** `failed`: not the document the client means. `known`: it has it already. Otherwise it is sent, or the range of it. */
export type Condition = "failed" | "known" | { range: string | undefined }

export function conditionOf(headers: IncomingHttpHeaders, method: string | undefined, told: Told): Condition {
  const isRead = method === "GET" || method === "HEAD"
  const known = headers["if-none-match"]
  if (!isMeant(headers, told)) return "failed"
  if (known !== undefined) {
    if (names(known, told.etag, isWeaklyAlike)) return isRead ? "known" : "failed"
  } else if (isRead && isSince(headers["if-modified-since"], told)) return "known"
  const range = headers.range
  return { range: range !== undefined && isRead && !isOfRange(headers["if-range"], told) ? undefined : range }
}

/** Who names tags is not asked for times. */
function isMeant(headers: IncomingHttpHeaders, told: Told): boolean {
  const tags = headers["if-match"]
  if (tags !== undefined && tags !== "") return names(tags, told.etag, isAlike)
  const since = headers["if-unmodified-since"]
  return Number.isNaN(Date.parse(since ?? "")) || isSince(since, told)
}

function isOfRange(given: string | string[] | undefined, told: Told): boolean {
  if (typeof given !== "string" || given === "") return true
  const tag = tagPattern.exec(given)?.[0]
  return tag === undefined ? Date.parse(given) === seconds(told.madeAt) : isAlike(tag, told.etag)
}

/** It was made then or before; never, if that is no time. */
function isSince(time: string | undefined, { madeAt }: Told): boolean {
  return seconds(madeAt) <= Date.parse(time ?? "")
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1000) * 1000
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

function isWeaklyAlike(tag: string, etag?: string): boolean {
  return tag.replace(/^W\//, "") === etag
}
