import { X509Certificate } from "node:crypto"
import { beforeAll, describe, expect, test } from "vitest"
import { der } from "../../apimachinery/der.ts"
import { organizationsOf } from "../admission/plugins/certificate-subject.ts"
import { createClientRequest, requestWithSubject } from "../testing/certificate-request.ts"
import { createCertificateAuthenticator } from "../authentication/client-certificate.ts"
import { createCertificateSigner, type ControlPlanesByName } from "./certificate-signer.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import { createAuthority, type Authority } from "../pki/pki.ts"

const tenant = { name: "a", uid: "1" }
let authority: Authority

beforeAll(async () => {
  authority = await createAuthority("polyplane tenant a")
})

function signer() {
  const controlPlane = Promise.resolve({ trust: { clientCertificateAuthority: authority } } as ControlPlane)
  const byName: ControlPlanesByName["byName"] = ({ name, uid }) =>
    name === tenant.name && uid === tenant.uid ? controlPlane : undefined
  return createCertificateSigner({ byName })
}

const hourMs = 3_600_000

describe("the signer of a tenant's requests", () => {
  test.each(["ECDSA", "RSA"] as const)("issues certificates that are accepted for %s keys", async (algorithm) => {
    const { request } = await createClientRequest("CN=jane, O=team-a, O=team-b", { algorithm, hosts: ["node-1"] })
    const usages = ["digital signature", "key encipherment", "client auth"]
    const pem = await signer().sign(tenant, { request, usages, lifetimeMs: hourMs })
    const certificate = new X509Certificate(pem)
    expect(certificate.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true)
    expect(certificate.subjectAltName).toBe("DNS:node-1")
    expect(certificate.ca).toBe(false)
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"])
    const remaining = Date.parse(certificate.validTo) - Date.now()
    expect(remaining).toBeGreaterThan(hourMs - 60_000)
    expect(remaining).toBeLessThanOrEqual(hourMs)
    const authenticator = createCertificateAuthenticator(authority.certificate)
    const answer = authenticator.authenticate({ certificates: [certificate.raw], bearerToken: undefined })
    expect(answer?.user).toMatchObject({ name: "jane", groups: ["team-a", "team-b"] })
  })

  test("issues nothing for what was not read as a group when the request was checked", async () => {
    const text = (part: string): Buffer => der.utf8(part)
    const constructed = Buffer.from(der.sequence(text("system:"), text("masters")))
    constructed[0] = 0x2c // a constructed UTF8String, which OpenSSL reads
    const named = (id: string, value: Buffer): Buffer => der.set(der.sequence(der.oid(id), value))
    const subject = der.sequence(named("2.5.4.3", text("jane")), named("2.5.4.10", constructed))
    const request = requestWithSubject(subject)
    expect(organizationsOf(Buffer.from(request))).toEqual([])
    const pem = await signer().sign(tenant, { request, usages: ["client auth"], lifetimeMs: hourMs })
    const certificates = [new X509Certificate(pem).raw]
    const authenticator = createCertificateAuthenticator(authority.certificate)
    const answer = authenticator.authenticate({ certificates, bearerToken: undefined })
    expect(answer?.user).toMatchObject({ name: "jane", groups: [] })
  })

  test("never issues a certificate that outlives the authority", async () => {
    const { request } = await createClientRequest("CN=jane")
    const pem = await signer().sign(tenant, { request, usages: ["client auth"], lifetimeMs: 100 * 365 * 24 * hourMs })
    expect(new X509Certificate(pem).validTo).toBe(new X509Certificate(authority.certificate).validTo)
  })

  test("rejects invalid signatures, unknown usages and unknown tenants", async () => {
    const { request } = await createClientRequest("CN=jane")
    const bytes = Buffer.from(request.replace(/-----[^-]+-----|\s/g, ""), "base64")
    const at = bytes.indexOf("jane")
    bytes.write("joan", at)
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`
    const lifetimeMs = hourMs
    await expect(signer().sign(tenant, { request: forged, usages: [], lifetimeMs })).rejects.toThrow(
      "verification failure",
    )
    await expect(signer().sign(tenant, { request, usages: ["flying"], lifetimeMs })).rejects.toThrow(
      "unrecognized usage",
    )
    for (const other of [{ name: "b" }, { uid: "next" }])
      await expect(signer().sign({ ...tenant, ...other }, { request, usages: [], lifetimeMs })).rejects.toThrow(
        "not found",
      )
  })
})
