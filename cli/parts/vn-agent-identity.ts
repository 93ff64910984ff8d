// The vn-agent's serving certificate, the key it verifies callers with, and its client certificate for the kubelet: files mounted
// from Secrets. The owner of a Secret (for the first two, the gateway) renews it, the kubelet replaces the files, and the
// vn-agent loads them without ending calls in progress.

import { createPublicKey, type KeyObject } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createSecureContext } from "node:tls"
import { errorMessage } from "../../apimachinery/error-message.ts"
import type { TlsIdentity } from "../../client/http/transport.ts"
import { whole } from "../../client/credentials/kubeconfig.ts"
import type { VnAgentOptions } from "../../vn-agent/options.ts"
import { UserError } from "../command.ts"
import { isSameIdentity } from "../compose/cluster.ts"
import { follow, type Following } from "../../client/credentials/follow.ts"

export interface IdentityFiles {
  identityKeys: string
  certificate: string
  key: string
}

type Identity = Pick<VnAgentOptions, "tls" | "identityKeys">

/** Throws a UserError. */
export async function readIdentity(files: IdentityFiles): Promise<Identity> {
  const tls = { certificate: await readPem(files.certificate), key: await readPem(files.key) }
  try {
    createSecureContext({ cert: tls.certificate, key: tls.key })
  } catch (error) {
    throw new UserError(`${files.certificate} and ${files.key} are not a certificate and its key`, { cause: error })
  }
  return { tls, identityKeys: publicKeysOf(files.identityKeys, await readPem(files.identityKeys)) }
}

/** Calls `renew` whenever the files have changed, until the signal ends. Retries files that cannot be used. */
export function followIdentity(
  files: IdentityFiles,
  current: Identity,
  renew: (identity: Identity) => void,
  context: Following,
): Promise<void> {
  return follow({ what: "identity", read: () => readIdentity(files), current, isSame, renew }, context)
}

/** The identity for the kubelet: either file names or their content. */
export type KubeletIdentity = Required<TlsIdentity>

/** Throws a UserError. */
export async function readKubeletIdentity(files: KubeletIdentity): Promise<KubeletIdentity> {
  const { certificateAuthority, certificate, key } = files
  const identity = {
    certificateAuthority: await readPem(certificateAuthority),
    certificate: await readPem(certificate),
    key: await readPem(key),
  }
  try {
    return whole(`${certificateAuthority}, ${certificate} and ${key}`, identity)
  } catch (error) {
    throw new UserError(errorMessage(error), { cause: error })
  }
}

/** Like {@link followIdentity}. */
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
