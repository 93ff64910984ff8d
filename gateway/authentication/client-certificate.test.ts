import { X509Certificate } from "node:crypto"
import { beforeAll, describe, expect, test } from "vitest"
import { createAuthority, issueClientCertificate, issueServingCertificate, type Authority } from "../tenancy/pki.ts"
import { createCertificateAuthenticator } from "./client-certificate.ts"

let authority: Authority
let other: Authority

beforeAll(async () => {
  authority = await createAuthority("polyplane tenant a")
  other = await createAuthority("polyplane tenant b")
})

const present = (pem: string) => ({ certificates: [new X509Certificate(pem).raw], bearerToken: undefined })

describe("client certificate authenticator", () => {
  test("common name is the user, organizations are the groups, whatever characters they have", async () => {
    const groups = ["system:masters", 'odd, group=+"\\']
    const issued = await issueClientCertificate(authority, { name: "jane", groups })
    const answer = await createCertificateAuthenticator(authority.certificate).authenticate(present(issued.certificate))
    expect(answer?.user).toMatchObject({ name: "jane", groups })
    expect(answer?.user.extra["authentication.kubernetes.io/credential-id"]?.[0]).toMatch(/^X509SHA256=[0-9a-f]{64}$/)
  })

  test("no certificate is no credential", async () => {
    const authenticator = createCertificateAuthenticator(authority.certificate)
    expect(await authenticator.authenticate({ certificates: [], bearerToken: undefined })).toBeUndefined()
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
  ])("refuses %s", async (_what, issue) => {
    const { certificate } = await issue()
    const authenticator = createCertificateAuthenticator(authority.certificate)
    await expect(authenticator.authenticate(present(certificate))).rejects.toMatchObject({ code: 401 })
  })
})
