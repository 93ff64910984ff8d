// CA certificates that a client must trust (caBundle). Source: k8s.io/client-go/transport, rootCertPool.

import { isCertificate, type PEMBlock, pemBlocks, printPEM } from "../../apimachinery/pem.ts"

interface Authorities {
  /** PEM. Those that cannot be read are left out: OpenSSL would read none that follow them. */
  certificates: string
  /** Upstream's error if there are none in a bundle. */
  fault: string | undefined
}

/** What has a bundle, in Base64. */
interface Trusting {
  caBundle?: string | null | undefined
}

const read = new WeakMap<Trusting, Authorities>()

/** Read once for each object. */
export function authoritiesOf(trusting: Trusting): Authorities {
  let found = read.get(trusting)
  if (found === undefined) {
    const text = Buffer.from(trusting.caBundle ?? "", "base64").toString("latin1")
    const readable = certificatesIn(text).filter(isCertificate)
    const certificates = readable.map((content) => printPEM(certificateType, content)).join("")
    read.set(trusting, (found = { certificates, fault: authoritiesFault(text) }))
  }
  return found
}

/** The error of another of upstream's readers, by which every certificate must be readable. Source: k8s.io/client-go/util/cert. */
export function certificatesFault(text: string): string | undefined {
  if (text === "") return undefined
  const certificates = certificatesIn(text)
  if (certificates.length === 0) return "data does not contain any valid RSA or ECDSA certificates"
  return certificates.every(isCertificate) ? undefined : "x509: malformed certificate"
}

/** Upstream's error if the text contains no certificate; undefined if it does, or is empty. */
export function authoritiesFault(text: string): string | undefined {
  if (text === "") return undefined
  let end = 0
  let unreadable = false
  for (const block of pemBlocks(text)) {
    end = block.end
    if (!isOfCertificate(block)) continue
    if (isCertificate(block.content)) return undefined
    unreadable = true
  }
  const fault = unreadable
    ? "failed to parse certificate: x509: malformed certificate"
    : end < text.length
      ? "unable to parse bytes as PEM block"
      : "no valid certificate authority data seen"
  return `unable to load root certificates: ${fault}`
}

const certificateType = "CERTIFICATE"

const isOfCertificate = ({ type, hasHeaders }: PEMBlock): boolean => type === certificateType && !hasHeaders

/** DER, whether or not it can be read. */
export const certificatesIn = (text: string): Buffer[] =>
  [...pemBlocks(text)].filter(isOfCertificate).map(({ content }) => content)
