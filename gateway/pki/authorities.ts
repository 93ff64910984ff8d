// CA certificates that a client must trust (caBundle). Source: k8s.io/client-go/transport, rootCertPool.

import { X509Certificate } from "node:crypto"
import { pemBlocks } from "../../apimachinery/pem.ts"

/** The error of another of upstream's readers, by which every certificate must be readable. Source: k8s.io/client-go/util/cert. */
export function certificatesFault(text: string): string | undefined {
  if (text === "") return undefined
  const blocks = [...pemBlocks(text)].filter(({ type, hasHeaders }) => type === "CERTIFICATE" && !hasHeaders)
  if (blocks.length === 0) return "data does not contain any valid RSA or ECDSA certificates"
  return blocks.every(({ content }) => isCertificate(content)) ? undefined : "x509: malformed certificate"
}

/** Upstream's error if the text contains no certificate; undefined if it does, or is empty. */
export function authoritiesFault(text: string): string | undefined {
  if (text === "") return undefined
  let end = 0
  let unreadable = false
  for (const block of pemBlocks(text)) {
    end = block.end
    if (block.type !== "CERTIFICATE" || block.hasHeaders) continue
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

function isCertificate(content: Buffer): boolean {
  try {
    return new X509Certificate(content).raw.length > 0
  } catch {
    // OpenSSL's reason differs from Go's.
    return false
  }
}
