// A control plane's own trust roots, made once and kept in its own store: nothing that verifies a tenant's callers lies
// outside the tenant.

import { createHash, createPublicKey, randomUUID, X509Certificate, type KeyObject } from "node:crypto"
import type { Store } from "../../storage/types.ts"
import type { TrustRoots } from "../authentication/types.ts"
import { createAuthority, createSigningKey, parseKey, printKey } from "./pki.ts"

const trustKey = "/polyplane/trust"

/** On disk, as JSON. */
interface StoredTrust {
  clientCertificateAuthority: { certificate: string; key: string }
  serviceAccountKey: string
  issuer: string
}

export interface NewTrust {
  /** Subject of the client authority: unique, because a certificate's issuer can name the tenant. */
  authorityName: string
  issuer: string
}

export async function loadTrust(
  store: Store,
  fresh: NewTrust,
  servingCertificateAuthority: string,
): Promise<TrustRoots> {
  const found = await store.get(trustKey)
  const stored = found === undefined ? await writeTrust(store, fresh) : parse(found.value)
  return trustRoots(stored, servingCertificateAuthority)
}

/** Trust roots nobody holds a key of outside this process. */
export async function createTrust(fresh: NewTrust, servingCertificateAuthority: string): Promise<TrustRoots> {
  return trustRoots(await makeTrust(fresh), servingCertificateAuthority)
}

async function writeTrust(store: Store, fresh: NewTrust): Promise<StoredTrust> {
  const made = await makeTrust(fresh)
  const result = await store.txn({
    compare: [{ key: trustKey, modRevision: 0 }],
    operations: [{ type: "put", key: trustKey, value: Buffer.from(JSON.stringify(made)) }],
  })
  if (result.succeeded) return made
  // Another process was first (stateless replicas on one store).
  const winner = result.current[0]
  if (winner === undefined) throw new Error("trust roots: lost the race to write, yet nothing is there")
  return parse(winner.value)
}

async function makeTrust({ authorityName, issuer }: NewTrust): Promise<StoredTrust> {
  const authority = await createAuthority(authorityName)
  return {
    clientCertificateAuthority: { certificate: authority.certificate, key: printKey(authority.key) },
    serviceAccountKey: printKey(await createSigningKey()),
    issuer,
  }
}

function parse(value: Uint8Array): StoredTrust {
  return JSON.parse(Buffer.from(value).toString()) as StoredTrust
}

function trustRoots(stored: StoredTrust, servingCertificateAuthority: string): TrustRoots {
  const { certificate, key } = stored.clientCertificateAuthority
  const privateKey = parseKey(stored.serviceAccountKey)
  const publicKey = createPublicKey(privateKey)
  return {
    clientCertificateAuthority: { certificate, key: parseKey(key) },
    serviceAccountKey: { private: privateKey, public: publicKey, keyId: keyId(publicKey) },
    issuer: stored.issuer,
    servingCertificateAuthority,
  }
}

/** As upstream makes key ids: from the public key's DER. Source: k8s.io/kubernetes/pkg/serviceaccount/jwt.go. */
function keyId(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url")
}

export function authorityName(uid: string): string {
  return `polyplane tenant ${uid}`
}

export function newUid(): string {
  return randomUUID()
}

/** The subject of a certificate's issuer, as it is compared with {@link authorityName}. */
export function issuerCommonName(certificate: X509Certificate): string {
  const name: unknown = certificate.toLegacyObject().issuer.CN
  return typeof name === "string" ? name : ""
}
