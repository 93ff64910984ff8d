// The gateway's own keys: the authority of its serving certificate, the authority of its administrators, their certificate, and the
// key that signs identities for vn-agents. On disk they are in <data-dir>/pki (key-files.ts); replicas share them.

import { X509Certificate, type KeyObject } from "node:crypto"
import { systemClock, type Clock } from "../../client/clock.ts"
import { StartError } from "../start-error.ts"
import type { KeyFiles } from "./key-files.ts"
import {
  certificateLifetimes,
  createAuthority,
  createSigningKey,
  issueClientCertificate,
  issueServingCertificate,
  mustBeRenewed,
  parseKey,
  printKey,
  type Authority,
  type IssuedCertificate,
} from "./pki.ts"

export const administratorsName = "polyplane administrators"

interface Authorities {
  servingAuthority: Authority
  /** Clients with a certificate of this authority are members of system:masters in every control plane. */
  administratorAuthority: Authority
}

/** Renewed before they expire while the gateway runs (renewal.ts), so they must not be copied. */
export interface Certificates {
  serving: IssuedCertificate
  administrator: IssuedCertificate
}

export interface GatewayKeys extends Authorities, Certificates {
  tenantTokenSigner: KeyObject
}

/** The names in the serving certificate; undefined if another process creates the certificates. */
type Names = readonly string[] | undefined

/** Creates missing keys and renews expiring certificates. */
export async function loadGatewayKeys(files: KeyFiles, names: Names, clock = systemClock): Promise<GatewayKeys> {
  const authorities = {
    servingAuthority: await loadAuthority(files, "serving-ca", "polyplane gateway authority"),
    administratorAuthority: await loadAuthority(files, "administrators-ca", administratorsName),
  }
  return {
    ...authorities,
    ...(await loadCertificates(files, names, authorities, clock)),
    tenantTokenSigner: await loadSigningKey(files, "tenant-tokens"),
  }
}

/** `before`: the current certificates. */
export async function loadCertificates(
  files: KeyFiles,
  names: Names,
  { servingAuthority, administratorAuthority }: Authorities,
  clock: Clock,
  before?: Certificates,
): Promise<Certificates> {
  if (names === undefined)
    return { serving: await readPair(files, "serving"), administrator: await readPair(files, "administrator") }
  const now = clock.now()
  const serves = (pair: IssuedCertificate): boolean => isCurrent(pair, servingAuthority, now) && covers(pair, names)
  const issueServing = () => issueServingCertificate(servingAuthority, names, now)
  const issueAdministrator = () =>
    issueClientCertificate(administratorAuthority, administratorUser, certificateLifetimes.clientMs, now)
  return {
    // Replicas have different names.
    serving: !files.shared
      ? await loadCertificate(files, "serving", serves, issueServing)
      : before !== undefined && serves(before.serving)
        ? before.serving
        : await issueServing(),
    administrator: await loadCertificate(
      files,
      "administrator",
      (pair) => isCurrent(pair, administratorAuthority, now),
      issueAdministrator,
    ),
  }
}

const administratorUser = { name: "polyplane-admin", groups: ["system:masters"] }

/**
 * Loads or creates a value; if several processes create it concurrently, all get the first one's. `make` returns undefined if it has
 * seen that another process has created it.
 */
async function load<T>(
  files: KeyFiles,
  names: readonly string[],
  make: () => Promise<Found | undefined>,
  use: (found: Found) => T,
) {
  for (;;) {
    const found = await files.read(names)
    if (found !== undefined) return use(found)
    const made = await make()
    if (made !== undefined && (await files.write(made))) return use(made)
  }
}

type Found = Readonly<Record<string, string>>

const filesOf = (name: string) => [`${name}.key`, `${name}.crt`]
const pairOf = (name: string, found: Found): IssuedCertificate => ({
  certificate: found[`${name}.crt`] ?? "",
  key: found[`${name}.key`] ?? "",
})
/** The key first: a certificate without its key would be taken for a complete pair. */
const foundOf = (name: string, { key, certificate }: IssuedCertificate): Found => ({
  [`${name}.key`]: key,
  [`${name}.crt`]: certificate,
})

async function loadAuthority(files: KeyFiles, name: string, commonName: string): Promise<Authority> {
  const make = async (): Promise<Found | undefined> => {
    // The key is written first, so it was not lost by a crash. A new authority would invalidate every kubeconfig. Read in this order,
    // since another gateway may just have written both, which must not be replaced.
    if ((await files.read([`${name}.crt`])) !== undefined) {
      if ((await files.read([`${name}.key`])) !== undefined) return undefined
      throw unusable(name, "there is a certificate without its key")
    }
    const { certificate, key } = await createAuthority(commonName)
    return foundOf(name, { certificate, key: printKey(key) })
  }
  return load(files, filesOf(name), make, (found) => {
    const pair = pairOf(name, found)
    if (!isReadable(pair)) throw unusable(name, "the certificate and its key cannot be read")
    return { certificate: pair.certificate, key: parseKey(pair.key) }
  })
}

async function loadCertificate(
  files: KeyFiles,
  name: string,
  isGood: (pair: IssuedCertificate) => boolean,
  make: () => Promise<IssuedCertificate>,
): Promise<IssuedCertificate> {
  for (;;) {
    const found = await files.read(filesOf(name))
    const pair = found && pairOf(name, found)
    // One that cannot be read is replaced, like one that has expired.
    if (pair !== undefined && isReadable(pair) && isGood(pair)) return pair
    const made = await make()
    if (await files.write(foundOf(name, made))) return made
  }
}

async function loadSigningKey(files: KeyFiles, name: string): Promise<KeyObject> {
  const file = `${name}.key`
  const make = async (): Promise<Found> => ({ [file]: printKey(await createSigningKey()) })
  return load(files, [file], make, (found) => {
    try {
      return parseKey(found[file] ?? "")
    } catch {
      throw unusable(name, "the key cannot be read") // the error of OpenSSL would only be a number
    }
  })
}

function unusable(name: string, why: string): StartError {
  return new StartError(`the gateway's keys "pki/${name}" cannot be used: ${why}. Restore them from a backup`)
}

function isReadable(pair: IssuedCertificate): boolean {
  try {
    return isPair(pair)
  } catch {
    return false // one of them is not PEM
  }
}

/** Throws if its two files do not match because they are being replaced. */
async function readPair(files: KeyFiles, name: string): Promise<IssuedCertificate> {
  const found = await files.read(filesOf(name))
  const pair = found && pairOf(name, found)
  if (pair === undefined || !isPair(pair)) throw new Error(`${name}.crt and ${name}.key are not there as a pair`)
  return pair
}

function isPair({ certificate, key }: IssuedCertificate): boolean {
  return new X509Certificate(certificate).checkPrivateKey(parseKey(key))
}

function isCurrent(pair: IssuedCertificate, authority: Authority, now: number): boolean {
  const certificate = new X509Certificate(pair.certificate)
  return (
    !mustBeRenewed(certificate, now) &&
    certificate.verify(new X509Certificate(authority.certificate).publicKey) &&
    isPair(pair)
  )
}

function covers(pair: IssuedCertificate, names: readonly string[]): boolean {
  const { subjectAltName = "" } = new X509Certificate(pair.certificate)
  const alternatives = subjectAltName.split(", ").map((entry) => entry.replace(/^[^:]*:/, ""))
  // Node prints IPv6 addresses as full upper-case groups; the gateway uses only "::1".
  return names.every((name) => alternatives.includes(name === "::1" ? "0:0:0:0:0:0:0:1" : name))
}
