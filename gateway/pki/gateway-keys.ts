// The gateway's own keys: the authority of its serving certificate, the authority of its administrators, their certificate,
// and the key that signs identities for vn-agents. On disk they lie in <data-dir>/pki (key-files.ts); replicas share theirs.

import { X509Certificate, type KeyObject } from "node:crypto"
import type { KeyFiles } from "./key-files.ts"
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
export async function loadGatewayKeys(files: KeyFiles, names: readonly string[]): Promise<GatewayKeys> {
  const servingAuthority = await loadAuthority(files, "serving-ca", "polyplane gateway authority")
  const administratorAuthority = await loadAuthority(files, "administrators-ca", administratorsName)
  const issueServing = () => issueServingCertificate(servingAuthority, names)
  return {
    servingAuthority,
    administratorAuthority,
    // Replicas go by names of their own.
    serving: files.shared
      ? await issueServing()
      : await loadCertificate(
          files,
          "serving",
          (certificate) => isCurrent(certificate, servingAuthority) && covers(certificate, names),
          issueServing,
        ),
    administrator: await loadCertificate(
      files,
      "administrator",
      (certificate) => isCurrent(certificate, administratorAuthority),
      () => issueClientCertificate(administratorAuthority, { name: "polyplane-admin", groups: ["system:masters"] }),
    ),
    tenantTokenSigner: await loadSigningKey(files, "tenant-tokens"),
  }
}

/** What is found, or what was made; of several processes that make it at once, all get the first one's. */
async function load<T>(
  files: KeyFiles,
  names: readonly string[],
  make: () => Promise<Found>,
  use: (found: Found) => T,
) {
  for (;;) {
    const found = await files.read(names)
    if (found !== undefined) return use(found)
    const made = await make()
    if (await files.write(made)) return use(made)
  }
}

type Found = Readonly<Record<string, string>>

const filesOf = (name: string) => [`${name}.key`, `${name}.crt`]
const pairOf = (name: string, found: Found): IssuedCertificate => ({
  certificate: found[`${name}.crt`] ?? "",
  key: found[`${name}.key`] ?? "",
})
/** The key first: a certificate without its key would be taken for a whole pair. */
const foundOf = (name: string, { key, certificate }: IssuedCertificate): Found => ({
  [`${name}.key`]: key,
  [`${name}.crt`]: certificate,
})

async function loadAuthority(files: KeyFiles, name: string, commonName: string): Promise<Authority> {
  const make = async (): Promise<Found> => {
    const { certificate, key } = await createAuthority(commonName)
    return foundOf(name, { certificate, key: printKey(key) })
  }
  return load(files, filesOf(name), make, (found) => {
    const { certificate, key } = pairOf(name, found)
    return { certificate, key: parseKey(key) }
  })
}

async function loadCertificate(
  files: KeyFiles,
  name: string,
  isGood: (certificate: X509Certificate) => boolean,
  make: () => Promise<IssuedCertificate>,
): Promise<IssuedCertificate> {
  for (;;) {
    const found = await files.read(filesOf(name))
    const pair = found && pairOf(name, found)
    if (pair !== undefined && isGood(new X509Certificate(pair.certificate))) return pair
    const made = await make()
    if (await files.write(foundOf(name, made))) return made
  }
}

async function loadSigningKey(files: KeyFiles, name: string): Promise<KeyObject> {
  const file = `${name}.key`
  const make = async (): Promise<Found> => ({ [file]: printKey(await createSigningKey()) })
  return load(files, [file], make, (found) => parseKey(found[file] ?? ""))
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
