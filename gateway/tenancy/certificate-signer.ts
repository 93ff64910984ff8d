// Signs CertificateSigningRequests of a tenant with the tenant's own client authority, so the certificates are credentials only in
// this tenant. Source: k8s.io/kubernetes/pkg/controller/certificates/{signer,authority}.

import { dictionary } from "../../apimachinery/dictionary.ts"
import { X509Certificate } from "node:crypto"
import { parsePEM } from "../../apimachinery/pem.ts"
import { requestFault } from "../../apimachinery/request-faults.ts"
import type { CertificateSigner, CertificateToSign } from "../../client/certificate-signer.ts"
import type { TenantIdentity } from "../../client/tenants.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import { certificateLifetimes } from "../pki/pki.ts"
import { signRequest } from "../pki/requested-certificate.ts"
import { noSuchTenant } from "./tenant-errors.ts"

/** Certificates with a shorter duration have their full duration from now; longer ones are shortened by their backdating. */
const shortMs = 8 * 60 * 60_000

/** Bits of RFC 5280 §4.2.1.3. */
const keyUsages: Readonly<Record<string, number>> = dictionary({
  signing: 0,
  "digital signature": 0,
  "content commitment": 1,
  "key encipherment": 2,
  "data encipherment": 3,
  "key agreement": 4,
  "cert sign": 5,
  "crl sign": 6,
  "encipher only": 7,
  "decipher only": 8,
})

const extendedUsages: Readonly<Record<string, string>> = dictionary({
  any: "2.5.29.37.0",
  "server auth": "1.3.6.1.5.5.7.3.1",
  "client auth": "1.3.6.1.5.5.7.3.2",
  "code signing": "1.3.6.1.5.5.7.3.3",
  "email protection": "1.3.6.1.5.5.7.3.4",
  "s/mime": "1.3.6.1.5.5.7.3.4",
  "ipsec end system": "1.3.6.1.5.5.7.3.5",
  "ipsec tunnel": "1.3.6.1.5.5.7.3.6",
  "ipsec user": "1.3.6.1.5.5.7.3.7",
  timestamping: "1.3.6.1.5.5.7.3.8",
  "ocsp signing": "1.3.6.1.5.5.7.3.9",
  "microsoft sgc": "1.3.6.1.4.1.311.10.3.3",
  "netscape sgc": "2.16.840.1.113730.4.1",
})

export interface ControlPlanesByName {
  byName(tenant: TenantIdentity): Promise<ControlPlane> | undefined
}

export function createCertificateSigner(controlPlanes: ControlPlanesByName): CertificateSigner {
  return {
    async sign(tenant, request) {
      const controlPlane = await controlPlanes.byName(tenant)
      if (controlPlane === undefined) throw noSuchTenant(tenant.name)
      return sign(controlPlane.trust.clientCertificateAuthority, request, Date.now())
    },
  }
}

function sign(
  authority: ControlPlane["trust"]["clientCertificateAuthority"],
  { request, usages, lifetimeMs }: CertificateToSign,
  now: number,
): string {
  const der = parsePEM(request)
  const fault = requestFault(der)
  if (fault !== undefined) throw new Error(`the certificate request is not valid: ${fault}`)
  const unknown = usages.filter((usage) => keyUsages[usage] === undefined && extendedUsages[usage] === undefined)
  if (unknown.length > 0) throw new Error(`unrecognized usage values: ${JSON.stringify(unknown)}`)
  const last = Date.parse(new X509Certificate(authority.certificate).validTo)
  if (now >= last) throw new Error("the signer has expired")
  const end = now + lifetimeMs - (lifetimeMs < shortMs ? 0 : certificateLifetimes.backdateMs)
  return signRequest(authority, der, {
    keyUsages: [...new Set(usages.flatMap((usage) => keyUsages[usage] ?? []))],
    extendedUsages: [...new Set(usages.flatMap((usage) => extendedUsages[usage] ?? []))],
    notBefore: new Date(now - certificateLifetimes.backdateMs),
    notAfter: new Date(Math.min(end, last)),
  })
}
