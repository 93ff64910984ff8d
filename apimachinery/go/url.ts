// Parses and prints URLs like Go, with its error messages. Source: net/url.

import { AddressFault, parseAddress } from "../addresses.ts"
import { goQuote } from "./quote.ts"
import { pathMarks, percentDecoded, percentEncoded, textOfBytes } from "./text.ts"

export interface GoUrl {
  scheme: string
  /** What follows the scheme of a URL without slashes, as written. */
  opaque: string
  /** As Go prints it; undefined if there is none. */
  user: string | undefined
  /** With its port, and without escapes. */
  host: string
  /** Whether the URL has a scheme, a path, and nothing between them, not even slashes. */
  omitsHost: boolean
  /** Without escapes. */
  path: string
  escapedPath: string
  /** As written; undefined if there is no question mark. */
  query: string | undefined
  /** Without escapes. */
  fragment: string
  escapedFragment: string
}

class UrlFault extends Error {}

/** "request": as in a request line, absolute and without a fragment. "reference": as in a text, may be relative. */
type UrlContext = "request" | "reference"

export function parseUrl(text: string, context: UrlContext): GoUrl {
  const [whole, fragment = ""] = context === "reference" ? cut(text, "#") : [text]
  const url = asking(whole, () => parsed(whole, context))
  if (fragment === "") return url
  const decoded = asking(text, () => unescaped(fragment))
  return {
    ...url,
    fragment: decoded,
    escapedFragment: kept(fragment, fragmentMarks) ?? percentEncoded(decoded, fragmentMarks),
  }
}

/** Go's error for an invalid URL. */
export function urlFault(text: string, context: UrlContext): string | undefined {
  try {
    parseUrl(text, context)
    return undefined
  } catch (error) {
    if (error instanceof UrlFault) return error.message
    throw error
  }
}

export function printUrl(url: GoUrl): string {
  const { scheme, opaque, user, host, omitsHost, escapedPath: path, query, escapedFragment: fragment } = url
  const start = scheme === "" ? "" : `${scheme}:`
  const end = `${query === undefined ? "" : `?${query}`}${fragment === "" ? "" : `#${fragment}`}`
  if (opaque !== "") return `${start}${opaque}${end}`
  const isRemote = user !== undefined || host !== ""
  const slashes = isRemote || (scheme !== "" && path !== "" && !omitsHost) ? "//" : ""
  const authority = `${slashes}${user === undefined ? "" : `${user}@`}${percentEncoded(host, hostMarks)}`
  // A colon in the first part would end a scheme.
  const relative = start + authority === "" && cut(path, "/")[0].includes(":") ? "./" : ""
  return `${start}${authority}${relative}${path}${end}`
}

function asking<T>(text: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof UrlFault) throw new UrlFault(`parse ${goQuote(text)}: ${error.message}`, { cause: error })
    throw error
  }
}

function parsed(text: string, context: UrlContext): GoUrl {
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(text)) throw new UrlFault("net/url: invalid control character in URL")
  if (text === "" && context === "request") throw new UrlFault("empty url")
  const given = text === "*" ? "" : schemeOf(text)
  const scheme = given.toLowerCase()
  const [rest, query] = cut(given === "" ? text : text.slice(given.length + 1), "?")
  const none = { opaque: "", user: undefined, host: "", omitsHost: false, path: "", escapedPath: "" }
  const url: GoUrl = { ...none, scheme, query, fragment: "", escapedFragment: "" }
  if (!rest.startsWith("/") && text !== "*") {
    if (scheme !== "") return { ...url, opaque: rest }
    if (context === "request") throw new UrlFault("invalid URI for request")
    if (cut(rest, "/")[0].includes(":")) throw new UrlFault("first path segment in URL cannot contain colon")
  }
  const hasAuthority = rest.startsWith("//") && (scheme !== "" || (context === "reference" && !rest.startsWith("///")))
  const slash = hasAuthority ? rest.indexOf("/", 2) : 0
  const authority = hasAuthority ? authorityOf(scheme, slash < 0 ? rest.slice(2) : rest.slice(2, slash)) : {}
  const written = slash < 0 ? "" : rest.slice(slash)
  const path = unescaped(written)
  const escapedPath = kept(written, pathMarks) ?? percentEncoded(path, pathMarks)
  return { ...url, ...authority, omitsHost: scheme !== "" && !hasAuthority, path, escapedPath }
}

function cut(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

function schemeOf(text: string): string {
  const match = /^([A-Za-z][A-Za-z0-9+.-]*)?:/.exec(text)
  if (match === null) return ""
  if (match[1] === undefined) throw new UrlFault("missing protocol scheme")
  return match[1]
}

function authorityOf(scheme: string, authority: string): Pick<GoUrl, "user" | "host"> {
  const at = authority.lastIndexOf("@")
  const host = hostOf(scheme, authority.slice(at + 1))
  if (at < 0) return { user: undefined, host }
  const user = authority.slice(0, at)
  if (!/^[\w\-.:~!$&'()*+,;=%@]*$/.test(user)) throw new UrlFault("net/url: invalid userinfo")
  const parts = cut(user, ":").map((part = "") => percentEncoded(unescaped(part), userMarks))
  return { user: parts.join(":"), host }
}

function hostOf(scheme: string, host: string): string {
  const bracket = host.lastIndexOf("[")
  if (bracket > 0) throw new UrlFault("invalid IP-literal")
  if (bracket === 0) return literalHost(host)
  // A URL of the web may contain only one colon.
  const colon = scheme === "http" || scheme === "https" ? host.indexOf(":") : host.lastIndexOf(":")
  if (colon >= 0) checkPort(host.slice(colon))
  return unescaped(host, refusedInHosts)
}

/** An IPv6 address in brackets. Nearly every character of its zone may be escaped. */
function literalHost(host: string): string {
  const close = host.lastIndexOf("]")
  if (close < 0) throw new UrlFault("missing ']' in host")
  const port = host.slice(close + 1)
  checkPort(port)
  const name = host.slice(1, close)
  const zone = name.indexOf("%25")
  const decoded =
    zone < 0
      ? unescaped(name, refusedInHosts)
      : unescaped(name.slice(0, zone), refusedInHosts) + unescaped(name.slice(zone), refusedInZones)
  try {
    if (parseAddress(decoded).address.bits === 32) throw new UrlFault("invalid IP-literal")
  } catch (error) {
    if (error instanceof AddressFault) throw new UrlFault(`invalid host: ${error.message}`, { cause: error })
    throw error
  }
  return `[${decoded}]${port}`
}

function checkPort(text: string): void {
  if (!/^(?::\d*)?$/.test(text)) throw new UrlFault(`invalid port ${goQuote(text)} after host`)
}

// Besides letters, digits, and what is not ASCII.
const fragmentMarks = `${pathMarks}!()*?`
const userMarks = "-_.~$&+,;="
const hostMarks = "-_.~!\"$&'()*+,:;<=>[]"

const hostCharacters = `A-Za-z0-9\\-_.~!"$&'()*+,:;<=>[\\]`
const codes = Array.from(hostMarks + "% 0123456789", (mark) => mark.charCodeAt(0).toString(16))
/** Characters and escapes: of the latter only those that are not ASCII, and the percent sign that begins a zone. */
const refusedInHosts = new RegExp(`%(?!25)[0-7][0-9A-Fa-f]|[^${hostCharacters}%\\u0080-\\u{10ffff}]`, "u")
const letterCodes = "(?:[46][1-9a-fA-F]|[57][0-9aA])"
const refusedInZones = new RegExp(
  `%(?!${codes.join("|")}|${letterCodes})[0-9A-Fa-f]{2}|[^${hostCharacters}%\\u0080-\\u{10ffff}]`,
  "iu",
)

function unescaped(text: string, refused?: RegExp): string {
  const wrong = /%(?![0-9A-Fa-f]{2})/.exec(text)
  const fault = refused?.exec(text)
  if (fault !== undefined && fault !== null && (wrong === null || fault.index < wrong.index)) {
    const [found] = fault
    if (found.startsWith("%")) throw new UrlFault(`invalid URL escape ${goQuote(found)}`)
    throw new UrlFault(`invalid character ${goQuote(found)} in host name`)
  }
  if (wrong !== null) {
    // Go shows three bytes, even if they end within a character.
    const shown = textOfBytes(Buffer.from(text.slice(wrong.index, wrong.index + 3)).subarray(0, 3))
    throw new UrlFault(`invalid URL escape ${goQuote(shown)}`)
  }
  if (!text.includes("%")) return text
  return textOfBytes(percentDecoded(Buffer.from(text).toString("latin1")))
}

/** As written, if that is a valid form of it. */
function kept(text: string, marks: string): string | undefined {
  return new RegExp(`^[${marks}A-Za-z0-9!$&'()*+,;=:@[\\]%]*$`).test(text) ? text : undefined
}
