// Checks that a certificate and a private key match, with the error messages of crypto/tls (X509KeyPair).

import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from "node:crypto"
import { type PEMBlock, pemBlocks } from "../../../../apimachinery/pem.ts"

const isKey = ({ type }: PEMBlock): boolean => type === "PRIVATE KEY" || type.endsWith(" PRIVATE KEY")
const isCertificate = ({ type }: PEMBlock): boolean => type === "CERTIFICATE"

/** Both arguments are PEM. Undefined if they match. */
export function keyPairFault(certificateText: string, keyText: string): string | undefined {
  const certificates = [...pemBlocks(certificateText)]
  const certificate = certificates.find(isCertificate)
  if (certificate === undefined) return noCertificate(certificates)
  const keys = [...pemBlocks(keyText)]
  const key = keys.find(isKey)
  if (key === undefined) return noKey(keys)
  const publicKey = attempt(() => new X509Certificate(certificate.content).publicKey)
  if (publicKey === undefined) return "x509: malformed certificate"
  const privateKey = parsePrivateKey(key.content)
  if (privateKey === undefined) return "tls: failed to parse private key"
  if (publicKey.asymmetricKeyType !== privateKey.asymmetricKeyType)
    return "tls: private key type does not match public key type"
  return publicKey.equals(createPublicKey(privateKey)) ? undefined : "tls: private key does not match public key"
}

const shownTypes = (blocks: readonly PEMBlock[]): string => `[${blocks.map(({ type }) => type).join(" ")}]`

function noCertificate(blocks: readonly PEMBlock[]): string {
  const [first] = blocks
  if (first === undefined) return "tls: failed to find any PEM data in certificate input"
  return blocks.length === 1 && first.type.endsWith("PRIVATE KEY")
    ? "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched"
    : `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${shownTypes(blocks)}`
}

function noKey(blocks: readonly PEMBlock[]): string {
  const [first] = blocks
  if (first === undefined) return "tls: failed to find any PEM data in key input"
  return blocks.length === 1 && isCertificate(first)
    ? "tls: found a certificate rather than a key in the PEM for the private key"
    : `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${shownTypes(blocks)}`
}

function parsePrivateKey(content: Buffer): KeyObject | undefined {
  for (const type of ["pkcs1", "pkcs8", "sec1"] as const) {
    const key = attempt(() => createPrivateKey({ key: content, format: "der", type }))
    if (key !== undefined) return key
  }
  return undefined
}

/** undefined if OpenSSL cannot parse it. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
