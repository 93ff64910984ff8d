// What is wrong with a PKCS#10 request (RFC 2986), in the words and in the order of Go: its structure, key, subject, alternative names,
// and at last its signature. Source: Go's crypto/x509 (ParseCertificateRequest, CheckSignature).

import { childrenOf, der, type Element, readElement, readElements } from "./der.ts"
import { goQuote } from "./go/quote.ts"
import { parseUrl, urlFault } from "./go/url.ts"
import { readRequestKey, signatureFault } from "./request-signature.ts"
import { readSubject } from "./request-subject.ts"

const malformed = "asn1: structure error: malformed certificate request"
const extensionRequest = der.oid("1.2.840.113549.1.9.14")
const alternativeName = der.oid("2.5.29.17")
const tags = { bitString: 0x03, sequence: 0x30, email: 0x81, dns: 0x82, url: 0x86, address: 0x87 } as const

/** DER of the request. Undefined: it is one, signed by its own key. */
export function requestFault(request: Buffer): string | undefined {
  if (request.length === 0) return "asn1: syntax error: sequence truncated"
  const whole = firstOf(request)
  if (request[0] !== tags.sequence) return malformed
  if (whole === undefined) return "asn1: syntax error: data truncated"
  if (whole.whole.length < request.length) return "asn1: syntax error: trailing data"
  try {
    return contentFault(whole)
  } catch {
    return malformed // an element is longer than what holds it, or of another type
  }
}

function firstOf(bytes: Buffer): Element | undefined {
  try {
    return readElement(bytes)
  } catch {
    return undefined
  }
}

function contentFault(request: Element): string | undefined {
  const [info, algorithm, signature] = childrenOf(request)
  const [, subject, keyInfo, attributes] = childrenOf(info)
  const isRequest = signature?.tag === tags.bitString && subject !== undefined
  if (!isRequest || info === undefined || keyInfo === undefined) return malformed
  const key = readRequestKey(keyInfo)
  if (typeof key === "string") return key
  readSubject(request.whole) // which throws
  return extensionsFault(attributes) ?? signatureFault(info.whole, algorithm, signature, key)
}

function extensionsFault(attributes: Element | undefined): string | undefined {
  const extensions = childrenOf(attributes).flatMap((attribute) => {
    const [type, values] = childrenOf(attribute)
    return type?.whole.equals(extensionRequest) === true ? childrenOf(childrenOf(values)[0]) : []
  })
  const ids = extensions.map((extension) => childrenOf(extension)[0]?.whole.toString("hex"))
  if (new Set(ids).size < ids.length) return "x509: certificate request contains duplicate requested extensions"
  for (const extension of extensions) {
    const [id, ...rest] = childrenOf(extension)
    if (id?.whole.equals(alternativeName) !== true) continue
    const [names] = readElements(rest.at(-1)?.content ?? Buffer.alloc(0))
    if (names?.tag !== tags.sequence) return "x509: invalid subject alternative names"
    for (const name of childrenOf(names)) {
      const fault = nameFault(name)
      if (fault !== undefined) return fault
    }
  }
  return undefined
}

function nameFault({ tag, content }: Element): string | undefined {
  const isText = content.every((byte) => byte < 0x80)
  if (tag === tags.email) return isText ? undefined : "x509: SAN rfc822Name is malformed"
  if (tag === tags.dns) return isText ? undefined : "x509: SAN dNSName is malformed"
  if (tag === tags.address) {
    const isAddress = content.length === 4 || content.length === 16
    return isAddress ? undefined : `x509: cannot parse IP address of length ${content.length}`
  }
  if (tag !== tags.url) return undefined
  return isText ? locatorFault(content.toString("latin1")) : "x509: SAN uniformResourceIdentifier is malformed"
}

function locatorFault(text: string): string | undefined {
  const fault = urlFault(text, "reference")
  if (fault !== undefined) return `x509: cannot parse URI ${goQuote(text)}: ${fault}`
  const { host } = parseUrl(text, "reference")
  const isValid = host === "" || (/^[\x21-\x7e]+$/.test(host) && host.split(".").every((label) => label !== ""))
  return isValid ? undefined : `x509: cannot parse URI ${goQuote(text)}: invalid domain`
}
