// What a vn-agent serves with, whom it believes, and what it shows to its kubelet: files that Secrets are mounted as. Whoever has
// them (of the first two, the gateway) renews the Secrets, the kubelet then replaces the files, and the vn-agent takes them on
// without ending the calls under way.

import { createPublicKey, type KeyObject } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createSecureContext } from "node:tls"
import { errorMessage } from "../../apimachinery/error-message.ts"
import type { TlsIdentity } from "../../client/http-transport.ts"
import { whole } from "../../client/kubeconfig.ts"
import type { VnAgentOptions } from "../../vn-agent/options.ts"
import { UserError } from "../command.ts"
import { isSameIdentity } from "../compose/cluster.ts"
import { follow, type Following } from "../../client/follow.ts"

export interface IdentityFiles {
  identityKeys: string
  certificate: string
  key: string
}

export type Identity = Pick<VnAgentOptions, "tls" | "identityKeys">

/** Fails with UserError. */
export async function readIdentity(files: IdentityFiles): Promise<Identity> {
  const tls = { certificate: await readPem(files.certificate), key: await readPem(files.key) }
  try {
    createSecureContext({ cert: tls.certificate, key: tls.key })
  } catch (error) {
    throw new UserError(`${files.certificate} and ${files.key} are not a certificate and its key`, { cause: error })
  }
  return { tls, identityKeys: publicKeysOf(files.identityKeys, await readPem(files.identityKeys)) }
}

/** Calls `renew` whenever the files have changed, until the signal ends. Files that cannot be used are tried again. */
export function followIdentity(
  files: IdentityFiles,
  current: Identity,
  renew: (identity: Identity) => void,
  context: Following,
): Promise<void> {
  return follow({ what: "identity", read: () => readIdentity(files), current, isSame, renew }, context)
}

/** For the kubelet. Of names of files and of what is in them. */
export type KubeletIdentity = Required<TlsIdentity>

/** Fails with UserError. */
export async function readKubeletIdentity(files: KubeletIdentity): Promise<KubeletIdentity> {
  const identity = {
    certificateAuthority: await readPem(files.certificateAuthority),
    certificate: await readPem(files.certificate),
    key: await readPem(files.key),
  }
  try {
    return whole(identity)
  } catch (error) {
    const names = `${files.certificateAuthority}, ${files.certificate} and ${files.key}`
    throw new UserError(`${names} are not an authority, a certificate and its key`, { cause: error })
  }
}

/** As {@link followIdentity}. */
export function followKubeletIdentity(
  files: KubeletIdentity,
  current: KubeletIdentity,
  renew: (identity: KubeletIdentity) => void,
  context: Following,
): Promise<void> {
  const read = () => readKubeletIdentity(files)
  return follow({ what: "certificate for the kubelet", read, current, isSame: isSameIdentity, renew }, context)
}

async function readPem(file: string): Promise<string> {
  let content: string
  try {
    content = await readFile(file, "utf8")
  } catch (error) {
    const why = errorMessage(error)
    throw new UserError(`${file} cannot be read: ${why}`, { cause: error })
  }
  if (!content.includes("-----BEGIN ")) throw new UserError(`${file} is not a PEM file`)
  return content
}

function publicKeysOf(file: string, content: string): KeyObject[] {
  const blocks = content.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g) ?? []
  if (blocks.length === 0) throw new UserError(`${file} has no public key`)
  try {
    return blocks.map((block) => createPublicKey(block))
  } catch (error) {
    throw new UserError(`${file} has an unreadable public key`, { cause: error })
  }
}

function isSame(a: Identity, b: Identity): boolean {
  return (
    a.tls.certificate === b.tls.certificate &&
    a.tls.key === b.tls.key &&
    a.identityKeys.length === b.identityKeys.length &&
    a.identityKeys.every((key, index) => b.identityKeys[index]?.equals(key))
  )
}
