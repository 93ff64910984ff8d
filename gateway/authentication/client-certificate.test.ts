import { X509Certificate } from "node:crypto"
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest"
import { createAuthority, issueClientCertificate, issueServingCertificate, type Authority } from "../pki/pki.ts"
import { createCertificateAuthenticator } from "./client-certificate.ts"

let authority: Authority
let other: Authority

beforeAll(async () => {
  authority = await createAuthority("polyplane tenant a")
  other = await createAuthority("polyplane tenant b")
})

const present = (pem: string) => ({ certificates: [new X509Certificate(pem).raw], bearerToken: undefined })

afterEach(() => {
  vi.useRealTimers()
})

describe("client certificate authenticator", () => {
  test("uses the common name as user and organizations as groups, with all their characters", async () => {
    const groups = ["system:masters", 'odd, group=+"\\']
    const issued = await issueClientCertificate(authority, { name: "jane", groups })
    const answer = createCertificateAuthenticator(authority.certificate).authenticate(present(issued.certificate))
    expect(answer?.user).toMatchObject({ name: "jane", groups })
    expect(answer?.user.extra["authentication.kubernetes.io/credential-id"]?.[0]).toMatch(/^X509SHA256=[0-9a-f]{64}$/)
  })

  test("ignores connections without a certificate", async () => {
    const authenticator = createCertificateAuthenticator(authority.certificate)
    expect(authenticator.authenticate({ certificates: [], bearerToken: undefined })).toBeUndefined()
  })

  test.each([
    ["another authority's", () => issueClientCertificate(other, { name: "admin", groups: ["system:masters"] })],
    [
      "one of an authority of the same name",
      async () => {
        const imposter = await createAuthority("polyplane tenant a")
        return issueClientCertificate(imposter, { name: "admin", groups: ["system:masters"] })
      },
    ],
    ["an expired one", () => issueClientCertificate(authority, { name: "admin", groups: [] }, -1000)],
    ["a serving certificate", () => issueServingCertificate(authority, ["localhost"])],
    ["one without a name", () => issueClientCertificate(authority, { name: "", groups: ["system:masters"] })],
    ["the authority itself", () => Promise.resolve({ certificate: authority.certificate, key: "" })],
  ])("rejects %s", async (_what, issue) => {
    const { certificate } = await issue()
    const authenticator = createCertificateAuthenticator(authority.certificate)
    expect(authenticator.authenticate(present(certificate))).toBeUndefined()
  })

  test("does not accept an expired certificate on an open connection", async () => {
    const authenticator = createCertificateAuthenticator(authority.certificate)
    const { certificate } = await issueClientCertificate(authority, { name: "jane", groups: [] })
    const credentials = present(certificate)
    expect(authenticator.authenticate(credentials)).toMatchObject({ user: { name: "jane" } })
    const end = new X509Certificate(certificate).validToDate.getTime()
    vi.useFakeTimers({ toFake: ["Date"], now: end })
    expect(authenticator.authenticate(credentials)).toMatchObject({ user: { name: "jane" } })
    vi.setSystemTime(end + 1)
    expect(authenticator.authenticate(credentials)).toBeUndefined()
  })
})
