// url(). Source: k8s.io/apiserver/pkg/cel/library/urls.go; what a URL is, is Go's net/url.ParseRequestURI.

import { dictionary } from "../../dictionary.ts"
import { ArrayList, CelError, EntryMap, OpaqueValue, type Value } from "../values.ts"

type Implementation = (args: readonly Value[]) => Value | undefined

class UrlFault extends Error {}

interface Parts {
  scheme: string
  /** With its port. */
  host: string
  path: string
  query: string
}

class Url extends OpaqueValue {
  readonly typeName = "kubernetes.URL"
  readonly text: string
  readonly parts: Parts

  constructor(text: string, parts: Parts) {
    super()
    this.text = text
    this.parts = parts
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Url && other.text === this.text
  }

  override toString(): string {
    return this.text
  }
}

/** What is wrong with a text that is no absolute URL and no absolute path, in Go's words. */
export function requestUrlFault(text: string): string | undefined {
  try {
    parse(text)
    return undefined
  } catch (error) {
    if (error instanceof UrlFault) return error.message
    throw error
  }
}

function fail(text: string, what: string): never {
  throw new UrlFault(`parse ${JSON.stringify(text)}: ${what}`)
}

function parse(text: string): Url {
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(text)) fail(text, "net/url: invalid control character in URL")
  if (text === "") fail(text, "empty url")
  const scheme = schemeOf(text)
  const rest = scheme === "" ? text : text.slice(scheme.length + 1)
  const question = rest.indexOf("?")
  const [beforeQuery, query] = question < 0 ? [rest, ""] : [rest.slice(0, question), rest.slice(question + 1)]
  if (!beforeQuery.startsWith("/")) {
    if (scheme === "") fail(text, "invalid URI for request")
    return new Url(text, { scheme: scheme.toLowerCase(), host: "", path: "", query })
  }
  if (scheme === "" || !beforeQuery.startsWith("//")) {
    return new Url(text, { scheme: scheme.toLowerCase(), host: "", path: checkedPath(text, beforeQuery), query })
  }
  const slash = beforeQuery.indexOf("/", 2)
  const authority = slash < 0 ? beforeQuery.slice(2) : beforeQuery.slice(2, slash)
  const path = slash < 0 ? "" : beforeQuery.slice(slash)
  return new Url(text, {
    scheme: scheme.toLowerCase(),
    host: hostOf(text, authority),
    path: checkedPath(text, path),
    query,
  })
}

function schemeOf(text: string): string {
  const match = /^([A-Za-z][A-Za-z0-9+.-]*)?:/.exec(text)
  if (match === null) return ""
  if (match[1] === undefined) fail(text, "missing protocol scheme")
  return match[1]
}

function hostOf(text: string, authority: string): string {
  const at = authority.lastIndexOf("@")
  const user = at < 0 ? "" : authority.slice(0, at)
  if (!/^[\w\-.:~!$&'()*+,;=%@]*$/.test(user)) fail(text, "net/url: invalid userinfo")
  const host = authority.slice(at + 1)
  const escape = /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(host)
  if (escape !== null) fail(text, `invalid URL escape ${JSON.stringify(escape[0])}`)
  if (host.startsWith("[")) {
    const close = host.lastIndexOf("]")
    if (close < 0) fail(text, "missing ']' in host")
    if (!isPort(host.slice(close + 1))) fail(text, `invalid port ${JSON.stringify(host.slice(close + 1))} after host`)
    return host
  }
  const colon = host.lastIndexOf(":")
  if (colon >= 0 && !isPort(host.slice(colon)))
    fail(text, `invalid port ${JSON.stringify(host.slice(colon))} after host`)
  const wrong = /[^\w\-.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host)
  if (wrong !== null) fail(text, `invalid character ${JSON.stringify(wrong[0])} in host name`)
  return host
}

function isPort(text: string): boolean {
  return /^(?::\d*)?$/.test(text)
}

function checkedPath(text: string, path: string): string {
  const escape = /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(path)
  if (escape !== null) fail(text, `invalid URL escape ${JSON.stringify(escape[0])}`)
  return path
}

/** As written when that is a valid escaping, else escaped. */
function escapedPath(path: string): string {
  if (/^[\w\-.~!$&'()*+,;=:@/%[\]]*$/.test(path)) return path
  return encodeURIComponent(decodeURIComponent(path)).replaceAll(/%(24|26|2B|2C|2F|3A|3B|3D|40)/g, (code) =>
    decodeURIComponent(code),
  )
}

function queryOf(query: string): EntryMap {
  const values = new Map<string, string[]>()
  for (const pair of query.split("&")) {
    if (pair === "" || pair.includes(";")) continue
    const equals = pair.indexOf("=")
    const [key, value] = equals < 0 ? [pair, ""] : [pair.slice(0, equals), pair.slice(equals + 1)]
    const decode = (text: string): string | undefined =>
      /%(?![0-9A-Fa-f]{2})/.test(text) ? undefined : Buffer.from(unescapeBytes(text.replaceAll("+", " "))).toString()
    const [decodedKey, decodedValue] = [decode(key), decode(value)]
    if (decodedKey === undefined || decodedValue === undefined) continue
    values.set(decodedKey, [...(values.get(decodedKey) ?? []), decodedValue])
  }
  return new EntryMap([...values].map(([key, list]) => [key, new ArrayList(list)]))
}

function unescapeBytes(text: string): Uint8Array {
  const parts = text.split(/(%[0-9A-Fa-f]{2})/)
  return Buffer.concat(
    parts.map((part, index) => (index % 2 === 1 ? Buffer.from(part.slice(1), "hex") : Buffer.from(part))),
  )
}

function ofUrl(make: (parts: Parts) => Value): Implementation {
  return ([url]) => (url instanceof Url ? make(url.parts) : undefined)
}

export const urlFunctions: Readonly<Record<string, Implementation>> = dictionary({
  getEscapedPath: ofUrl(({ path }) => escapedPath(path)),
  getHost: ofUrl(({ host }) => host),
  getHostname: ofUrl(({ host }) => /^\[([^]*)\](?::\d*)?$/.exec(host)?.[1] ?? host.replace(/:\d*$/, "")),
  getPort: ofUrl(({ host }) => /:(\d*)$/.exec(host.slice(host.lastIndexOf("]") + 1))?.[1] ?? ""),
  getQuery: ofUrl(({ query }) => queryOf(query)),
  getScheme: ofUrl(({ scheme }) => scheme),
  isURL: ([text]) => (typeof text === "string" ? requestUrlFault(text) === undefined : undefined),
  url: ([text]) => {
    if (typeof text !== "string") return undefined
    const fault = requestUrlFault(text)
    return fault === undefined ? parse(text) : new CelError(`URL parse error during conversion from string: ${fault}`)
  },
})
