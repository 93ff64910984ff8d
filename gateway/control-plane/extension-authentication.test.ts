import { expect, test } from "vitest"
import { createAuthority } from "../pki/pki.ts"
import { correctedAuthentication, extensionAuthentication } from "./extension-authentication.ts"

const [client, frontProxy, other] = await Promise.all(["client", "front-proxy", "other"].map(createAuthority))
const pem = (authority: { certificate: string } | undefined): string => `${authority?.certificate.trimEnd() ?? ""}\n`
const own = { client: pem(client), frontProxy: pem(frontProxy) }
const written = extensionAuthentication(own)
const corrected = (data: Record<string, string>) =>
  correctedAuthentication({ ...written, data: { ...written.data, ...data } }, own)?.data

test("what is complete remains as it is", () => {
  expect(corrected({})).toBeUndefined()
})

test("what others have added remains beside what is required", () => {
  const names = "requestheader-allowed-names"
  const added = { [names]: '["mine","mine"]', "client-ca-file": pem(other) }
  expect(corrected(added)).toEqual({
    ...written.data,
    [names]: '["mine","front-proxy-client"]',
    "client-ca-file": pem(other) + own.client,
  })
  expect(corrected({ unknown: "1" })).toEqual(written.data)
})

test("nothing is made of what cannot be read", () => {
  for (const data of [
    { "requestheader-allowed-names": "[" },
    { "requestheader-allowed-names": "[1]" },
    { "requestheader-group-headers": "{}" },
    { "client-ca-file": "none" },
    { "client-ca-file": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" },
  ])
    expect(corrected(data)).toBeUndefined()
})
