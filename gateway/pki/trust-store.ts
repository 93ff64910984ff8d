// A control plane's own trust roots, created once and stored in its own store: nothing that verifies a tenant's callers is outside
// the tenant.

import { createHash, createPublicKey, X509Certificate, type KeyObject } from "node:crypto"
import { type KeyValue, StorageError, type Store } from "../../storage/types.ts"
import type { TrustRoots } from "../authentication/types.ts"
import { createKeyPair, publicKeyOf } from "./key-pair.ts"
import { type Authority, createAuthority, type NewAuthority, parseKey } from "./pki.ts"

/** Of a control plane's first write, without which it cannot be opened. */
export const trustKey = "/polyplane/trust"
/** Subject of the authority, as in kubeadm. */
const frontProxyAuthorityName = "front-proxy-ca"

interface StoredAuthority {
  certificate: string
  key: string
}

/** JSON on disk. */
interface StoredTrust {
  clientCertificateAuthority: StoredAuthority
  frontProxyAuthority: StoredAuthority
  serviceAccountKey: string
  issuer: string
}

export interface NewTrust {
  /** Subject of the client authority: unique, because the issuer of a certificate identifies the tenant. */
  authorityName: string
  issuer: string
}

/** `fresh`: what to create in an empty store. Undefined: it was created before, and the store is Corrupt without it. */
export async function loadTrust(store: Store, fresh: NewTrust | undefined): Promise<TrustRoots> {
  const found = await store.get(trustKey)
  const stored = found === undefined ? await writeTrust(store, fresh) : await completed(store, found)
  return trustRoots(stored)
}

/** Creates trust roots whose keys exist only in this process. */
export async function createTrust(fresh: NewTrust): Promise<TrustRoots> {
  return trustRoots(await makeTrust(fresh))
}

async function writeTrust(store: Store, fresh: NewTrust | undefined): Promise<StoredTrust> {
  if (fresh === undefined)
    throw new StorageError("Corrupt", "the store has lost its contents: there are no trust roots in it")
  const made = await makeTrust(fresh)
  const result = await store.txn({
    compare: [{ key: trustKey, modRevision: 0 }],
    operations: [{ type: "put", key: trustKey, value: Buffer.from(JSON.stringify(made)) }],
  })
  if (result.succeeded) return made
  // Another process was faster (stateless replicas on one store).
  const winner = result.current[0]
  if (winner === undefined) throw new Error("trust roots: lost the race to write, yet nothing is there")
  return parse(winner.value) as StoredTrust
}

/** Trust roots of an earlier version lack the front proxy authority. */
async function completed(store: Store, { value, modRevision }: KeyValue): Promise<StoredTrust> {
  const stored = parse(value)
  if (stored.frontProxyAuthority !== undefined) return stored as StoredTrust
  const whole: StoredTrust = {
    ...stored,
    frontProxyAuthority: storedAuthority(await createAuthority(frontProxyAuthorityName)),
  }
  const result = await store.txn({
    compare: [{ key: trustKey, modRevision }],
    operations: [{ type: "put", key: trustKey, value: Buffer.from(JSON.stringify(whole)) }],
  })
  const winner = result.succeeded ? undefined : result.current[0]
  return winner === undefined ? whole : (parse(winner.value) as StoredTrust)
}

async function makeTrust({ authorityName, issuer }: NewTrust): Promise<StoredTrust> {
  const [client, frontProxy] = await Promise.all([
    createAuthority(authorityName),
    createAuthority(frontProxyAuthorityName),
  ])
  return {
    clientCertificateAuthority: storedAuthority(client),
    frontProxyAuthority: storedAuthority(frontProxy),
    serviceAccountKey: createKeyPair().pem,
    issuer,
  }
}

function storedAuthority({ certificate, keyText }: NewAuthority): StoredAuthority {
  return { certificate, key: keyText }
}

/** The key is parsed when something must be signed: most tenants wake without needing it. */
function authorityOf({ certificate, key }: StoredAuthority): Authority {
  let parsed: KeyObject | undefined
  return {
    certificate,
    get key() {
      return (parsed ??= parseKey(key))
    },
  }
}

type EarlierTrust = Omit<StoredTrust, "frontProxyAuthority"> & Partial<StoredTrust>

function parse(value: Uint8Array): EarlierTrust {
  return JSON.parse(Buffer.from(value).toString()) as EarlierTrust
}

function trustRoots(stored: StoredTrust): TrustRoots {
  return {
    clientCertificateAuthority: authorityOf(stored.clientCertificateAuthority),
    frontProxyAuthority: authorityOf(stored.frontProxyAuthority),
    serviceAccountKey: tokenKey(stored.serviceAccountKey),
    issuer: stored.issuer,
  }
}

/** Parsed when a token is signed or verified: many tenants wake without needing it. */
function tokenKey(text: string): TrustRoots["serviceAccountKey"] {
  let privateKey: KeyObject | undefined
  let publicKey: KeyObject | undefined
  let encoded: Buffer | undefined
  return {
    get private() {
      return (privateKey ??= parseKey(text))
    },
    get public() {
      return (publicKey ??= createPublicKey(this.private))
    },
    get encodedPublic() {
      return (encoded ??= publicKeyOf(text))
    },
    /** As upstream, derived from the public key's DER. Source: k8s.io/kubernetes/pkg/serviceaccount/jwt.go. */
    get keyId() {
      return createHash("sha256").update(this.encodedPublic).digest("base64url")
    },
  }
}

export function authorityName(uid: string): string {
  return `polyplane tenant ${uid}`
}

/** The common name of a certificate's issuer, for comparison with {@link authorityName}. */
export function issuerCommonName(certificate: X509Certificate): string {
  const name: unknown = certificate.toLegacyObject().issuer.CN
  return typeof name === "string" ? name : ""
}
