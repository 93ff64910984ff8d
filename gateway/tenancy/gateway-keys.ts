// The gateway's own keys on disk, in <data-dir>/pki: the authority of its serving certificate, the authority of its
// administrators, their certificate, and the key that signs identities for vn-agents. Files are readable by the owner only.

import { mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { X509Certificate, type KeyObject } from "node:crypto"
import {
  certificateLifetimes,
  createAuthority,
  createSigningKey,
  issueClientCertificate,
  issueServingCertificate,
  parseKey,
  printKey,
  type Authority,
  type IssuedCertificate,
} from "./pki.ts"

export const administratorsName = "polyplane administrators"

export interface GatewayKeys {
  servingAuthority: Authority
  serving: IssuedCertificate
  /** Clients with a certificate of this authority are members of system:masters in every control plane. */
  administratorAuthority: Authority
  administrator: IssuedCertificate
  tenantTokenSigner: KeyObject
}

/** Makes what is missing or near its end; `names` are those the serving certificate must have. */
export async function loadGatewayKeys(directory: string, names: readonly string[]): Promise<GatewayKeys> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const servingAuthority = await loadAuthority(directory, "serving-ca", "polyplane gateway authority")
  const administratorAuthority = await loadAuthority(directory, "administrators-ca", administratorsName)
  return {
    servingAuthority,
    administratorAuthority,
    serving: await loadCertificate(
      directory,
      "serving",
      (certificate) => isCurrent(certificate, servingAuthority) && covers(certificate, names),
      () => issueServingCertificate(servingAuthority, names),
    ),
    administrator: await loadCertificate(
      directory,
      "administrator",
      (certificate) => isCurrent(certificate, administratorAuthority),
      () => issueClientCertificate(administratorAuthority, { name: "polyplane-admin", groups: ["system:masters"] }),
    ),
    tenantTokenSigner: await loadSigningKey(directory, "tenant-tokens"),
  }
}

async function loadAuthority(directory: string, name: string, commonName: string): Promise<Authority> {
  const found = await readPair(directory, name)
  if (found !== undefined) return { certificate: found.certificate, key: parseKey(found.key) }
  const made = await createAuthority(commonName)
  await writePair(directory, name, { certificate: made.certificate, key: printKey(made.key) })
  return made
}

async function loadCertificate(
  directory: string,
  name: string,
  isGood: (certificate: X509Certificate) => boolean,
  make: () => Promise<IssuedCertificate>,
): Promise<IssuedCertificate> {
  const found = await readPair(directory, name)
  if (found !== undefined && isGood(new X509Certificate(found.certificate))) return found
  const made = await make()
  await writePair(directory, name, made)
  return made
}

async function loadSigningKey(directory: string, name: string): Promise<KeyObject> {
  const path = join(directory, `${name}.key`)
  const found = await readOptional(path)
  if (found !== undefined) return parseKey(found)
  const made = await createSigningKey()
  await writePrivate(path, printKey(made))
  return made
}

function isCurrent(certificate: X509Certificate, authority: Authority): boolean {
  return (
    certificate.validToDate.getTime() - Date.now() > certificateLifetimes.renewBeforeMs &&
    certificate.verify(new X509Certificate(authority.certificate).publicKey)
  )
}

function covers(certificate: X509Certificate, names: readonly string[]): boolean {
  const alternatives = (certificate.subjectAltName ?? "").split(", ").map((entry) => entry.replace(/^[^:]*:/, ""))
  // Node prints IPv6 addresses in full upper-case groups; "::1" is the only one of ours.
  return names.every((name) => alternatives.includes(name === "::1" ? "0:0:0:0:0:0:0:1" : name))
}

async function readPair(directory: string, name: string): Promise<IssuedCertificate | undefined> {
  const certificate = await readOptional(join(directory, `${name}.crt`))
  const key = await readOptional(join(directory, `${name}.key`))
  return certificate === undefined || key === undefined ? undefined : { certificate, key }
}

/** The key first: a certificate without its key would be taken for a whole pair. */
async function writePair(directory: string, name: string, pair: IssuedCertificate): Promise<void> {
  await writePrivate(join(directory, `${name}.key`), pair.key)
  await writePrivate(join(directory, `${name}.crt`), pair.certificate)
}

/** Whole or not at all. */
async function writePrivate(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`
  await writeFile(temporary, text, { mode: 0o600, flush: true })
  await rename(temporary, path)
}

async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}
