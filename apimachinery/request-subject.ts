// The subject of a PKCS#10 request. What is read here is what is checked and what is signed: bytes that one parser takes for a group
// and another for nothing never reach a certificate. As in Go, only certain attributes count, and only if they are strings. Sources:
// RFC 5280 §4.1.2.4, Go's crypto/x509/pkix.

import { childrenOf, der, type Element, readElements } from "./der.ts"

/** In the order in which Go writes them. */
const attributes = {
  country: der.oid("2.5.4.6"),
  organization: der.oid("2.5.4.10"),
  organizationalUnit: der.oid("2.5.4.11"),
  locality: der.oid("2.5.4.7"),
  province: der.oid("2.5.4.8"),
  streetAddress: der.oid("2.5.4.9"),
  postalCode: der.oid("2.5.4.17"),
  commonName: der.oid("2.5.4.3"),
  serialNumber: der.oid("2.5.4.5"),
} as const
type Attribute = keyof typeof attributes
const names = Object.keys(attributes) as Attribute[]

/** Of several, the last counts. */
const single: ReadonlySet<Attribute> = new Set(["commonName", "serialNumber"])

export type RequestSubject = Readonly<Record<Attribute, readonly string[]>>

/** DER of the request. Throws if it is not one, or not a valid one. */
export function readSubject(request: Buffer): RequestSubject {
  const [, subject] = childrenOf(childrenOf(readElements(request)[0])[0])
  if (subject === undefined) throw new Error("not a certificate request")
  const found: Record<Attribute, string[]> = {
    country: [],
    organization: [],
    organizationalUnit: [],
    locality: [],
    province: [],
    streetAddress: [],
    postalCode: [],
    commonName: [],
    serialNumber: [],
  }
  for (const pair of childrenOf(subject).flatMap(childrenOf)) {
    const [type, value] = childrenOf(pair)
    const name = names.find((one) => type?.whole.equals(attributes[one]))
    const text = value === undefined ? undefined : textOf(value)
    if (name === undefined || text === undefined) continue
    if (single.has(name)) found[name] = [text]
    else found[name].push(text)
  }
  return found
}

/** DER of the same subject. */
export function encodeSubject(subject: RequestSubject): Buffer {
  const sets = names.flatMap((name) => {
    const pairs = subject[name].map((text) => der.sequence(attributes[name], der.utf8(text)))
    return pairs.length === 0 ? [] : [der.set(...pairs.sort((a, b) => Buffer.compare(a, b)))]
  })
  return der.sequence(...sets)
}

const numericString = 0x12
const bmpString = 0x1e
/** UTF8String, NumericString, PrintableString, T61String, IA5String: Go takes their bytes as they are. */
const byteStrings: ReadonlySet<number> = new Set([0x0c, numericString, 0x13, 0x14, 0x16])

/** Undefined: of a type that is no string, which Go ignores. A constructed string is none. */
function textOf({ tag, content }: Element): string | undefined {
  if (tag === numericString && !/^[\d ]*$/.test(content.toString("latin1")))
    throw new Error("a NumericString contains other characters")
  if (byteStrings.has(tag)) return content.toString()
  if (tag !== bmpString || content.length % 2 !== 0) return undefined
  return Buffer.from(content).swap16().toString("utf16le").replace(/\0$/, "")
}
