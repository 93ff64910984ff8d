// url(). Source: k8s.io/apiserver/pkg/cel/library/urls.go; URLs are defined by Go's net/url.ParseRequestURI (go/url.ts).

import { dictionary } from "../../dictionary.ts"
import { type GoUrl, parseUrl, urlFault } from "../../go/url.ts"
import { ArrayList, CelError, EntryMap, OpaqueValue, type Value } from "../values.ts"

type Implementation = (args: readonly Value[]) => Value | undefined

type Parts = Omit<GoUrl, "fragment" | "user">

class Url extends OpaqueValue {
  readonly typeName = "kubernetes.URL"
  override readonly goType = "*url.URL"
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
    const { path } = this.parts
    return this.text.replace(path, () => escapedPath(path))
  }
}

/** Go's error for a text that is neither an absolute URL nor an absolute path. */
export function requestUrlFault(text: string): string | undefined {
  return urlFault(text, "request")
}

/** Unchanged if it is validly escaped, otherwise escaped. */
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
    // A fragment is only read in the second form, and a host without a scheme.
    const fault = requestUrlFault(text) ?? urlFault(text, "reference")
    return fault === undefined
      ? new Url(text, parseUrl(text, "reference"))
      : new CelError(`URL parse error during conversion from string: ${fault}`)
  },
})
