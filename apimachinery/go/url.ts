// Parses URLs like Go, with its error messages. Source: net/url (parse).

import { goQuote } from "./quote.ts"

export interface GoUrl {
  scheme: string
  /** As written; undefined if there is none. */
  user: string | undefined
  /** With its port. */
  host: string
  path: string
  query: string
  fragment: string
}

class UrlFault extends Error {}

/** "request": as in a request line, absolute and without a fragment. "reference": as in a text, may be relative. */
export type UrlContext = "request" | "reference"

export function parseUrl(text: string, context: UrlContext): GoUrl {
  const hash = context === "reference" ? text.indexOf("#") : -1
  const whole = hash < 0 ? text : text.slice(0, hash)
  const fragment = hash < 0 ? "" : text.slice(hash + 1)
  const url = asking(whole, () => parsed(whole, context))
  return { ...url, fragment: asking(text, () => checkedEscapes(fragment)) }
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

function asking<T>(text: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof UrlFault) throw new UrlFault(`parse ${goQuote(text)}: ${error.message}`, { cause: error })
    throw error
  }
}

function parsed(text: string, context: UrlContext): Omit<GoUrl, "fragment"> {
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(text)) throw new UrlFault("net/url: invalid control character in URL")
  if (text === "" && context === "request") throw new UrlFault("empty url")
  const given = schemeOf(text)
  const scheme = given.toLowerCase()
  const [rest, query] = cut(given === "" ? text : text.slice(given.length + 1), "?")
  const none = { scheme, user: undefined, host: "", query }
  if (!rest.startsWith("/")) {
    if (scheme !== "") return { ...none, path: "" }
    if (context === "request") throw new UrlFault("invalid URI for request")
    if (cut(rest, "/")[0].includes(":")) throw new UrlFault("first path segment in URL cannot contain colon")
  }
  const hasAuthority = rest.startsWith("//") && (scheme !== "" || (context === "reference" && !rest.startsWith("///")))
  if (!hasAuthority) return { ...none, path: checkedEscapes(rest) }
  const slash = rest.indexOf("/", 2)
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash)
  return {
    ...none,
    ...authorityOf(scheme, authority),
    path: checkedEscapes(slash < 0 ? "" : rest.slice(slash)),
  }
}

function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]
}

function schemeOf(text: string): string {
  const match = /^([A-Za-z][A-Za-z0-9+.-]*)?:/.exec(text)
  if (match === null) return ""
  if (match[1] === undefined) throw new UrlFault("missing protocol scheme")
  return match[1]
}

function authorityOf(scheme: string, authority: string): Pick<GoUrl, "user" | "host"> {
  const at = authority.lastIndexOf("@")
  const host = checkedHost(scheme, authority.slice(at + 1))
  if (at < 0) return { user: undefined, host }
  const user = authority.slice(0, at)
  if (!/^[\w\-.:~!$&'()*+,;=%@]*$/.test(user)) throw new UrlFault("net/url: invalid userinfo")
  return { user: checkedEscapes(user), host }
}

function checkedHost(scheme: string, host: string): string {
  const bracket = host.lastIndexOf("[")
  if (bracket > 0) throw new UrlFault("invalid IP-literal")
  if (bracket === 0) {
    const close = host.lastIndexOf("]")
    if (close < 0) throw new UrlFault("missing ']' in host")
    checkPort(host.slice(close + 1))
    return host
  }
  // A URL of the web may contain only one colon.
  const colon = scheme === "http" || scheme === "https" ? host.indexOf(":") : host.lastIndexOf(":")
  if (colon >= 0) checkPort(host.slice(colon))
  for (const [part] of host.matchAll(/%.{0,2}|[^%]/gsu)) {
    if (part.startsWith("%")) {
      // In a host only non-ASCII characters may be escaped.
      if (!/^%[89a-f][\da-f]$|^%25$/i.test(part)) throw new UrlFault(`invalid URL escape ${goQuote(part)}`)
    } else if (/[^\w\-.~!$&'()*+,;=:[\]<>"\u0080-\u{10ffff}]/u.test(part)) {
      throw new UrlFault(`invalid character ${goQuote(part)} in host name`)
    }
  }
  return host
}

function checkPort(text: string): void {
  if (!/^(?::\d*)?$/.test(text)) throw new UrlFault(`invalid port ${goQuote(text)} after host`)
}

function checkedEscapes(text: string): string {
  const escape = /%(?![0-9A-Fa-f]{2}).{0,2}/su.exec(text)
  if (escape !== null) throw new UrlFault(`invalid URL escape ${goQuote(escape[0])}`)
  return text
}
