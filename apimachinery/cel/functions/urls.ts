// url(). Source: k8s.io/apiserver/pkg/cel/library/urls.go; URLs are defined by Go's net/url.ParseRequestURI (go/url.ts).

import { dictionary } from "../../dictionary.ts"
import { percentDecoded, textOfBytes } from "../../go/text.ts"
import { type GoUrl, parseUrl, printUrl, urlFault } from "../../go/url.ts"
import { ArrayList, CelError, EntryMap, OpaqueValue, type Value, type Implementation } from "../values.ts"

class Url extends OpaqueValue {
  readonly typeName = "kubernetes.URL"
  override readonly goType = "*url.URL"
  readonly parts: GoUrl

  constructor(parts: GoUrl) {
    super()
    this.parts = parts
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Url && String(other) === String(this)
  }

  override toString(): string {
    return printUrl(this.parts)
  }
}

/** Go's error for a text that is neither an absolute URL nor an absolute path. */
export function requestUrlFault(text: string): string | undefined {
  return urlFault(text, "request")
}

/** Of one with more, Go reads none. */
const maxParameters = 10_000

function queryOf(query: string): EntryMap {
  const values = new Map<string, string[]>()
  const pairs = query.split("&")
  for (const pair of pairs.length > maxParameters ? [] : pairs) {
    if (pair === "" || pair.includes(";")) continue
    const equals = pair.indexOf("=")
    const [key, value] = equals < 0 ? [pair, ""] : [pair.slice(0, equals), pair.slice(equals + 1)]
    const decode = (text: string): string | undefined =>
      /%(?![0-9A-Fa-f]{2})/.test(text)
        ? undefined
        : textOfBytes(percentDecoded(Buffer.from(text.replaceAll("+", " ")).toString("latin1"))).toWellFormed()
    const [decodedKey, decodedValue] = [decode(key), decode(value)]
    if (decodedKey === undefined || decodedValue === undefined) continue
    values.set(decodedKey, [...(values.get(decodedKey) ?? []), decodedValue])
  }
  return new EntryMap([...values].map(([key, list]) => [key, new ArrayList(list)]))
}

/** Without the brackets of an IPv6 address. */
function splitPort(host: string): { name: string; port: string } {
  const colon = host.lastIndexOf(":")
  const hasPort = colon >= 0 && /^\d*$/.test(host.slice(colon + 1))
  const name = hasPort ? host.slice(0, colon) : host
  return { name: /^\[(.*)\]$/su.exec(name)?.[1] ?? name, port: hasPort ? host.slice(colon + 1) : "" }
}

function ofUrl(make: (parts: GoUrl) => Value): Implementation {
  return ([url]) => (url instanceof Url ? make(url.parts) : undefined)
}

export const urlFunctions: Readonly<Record<string, Implementation>> = dictionary({
  getEscapedPath: ofUrl(({ escapedPath }) => escapedPath),
  getHost: ofUrl(({ host }) => host.toWellFormed()),
  getHostname: ofUrl(({ host }) => splitPort(host).name.toWellFormed()),
  getPort: ofUrl(({ host }) => splitPort(host).port),
  getQuery: ofUrl(({ query = "" }) => queryOf(query)),
  getScheme: ofUrl(({ scheme }) => scheme),
  isURL: ([text]) => (typeof text === "string" ? requestUrlFault(text) === undefined : undefined),
  url: ([text]) => {
    if (typeof text !== "string") return undefined
    // A fragment is only read in the second form, and a host without a scheme.
    const fault = requestUrlFault(text) ?? urlFault(text, "reference")
    return fault === undefined
      ? new Url(parseUrl(text, "reference"))
      : new CelError(`URL parse error during conversion from string: ${fault}`)
  },
})
