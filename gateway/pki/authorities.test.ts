import { expect, test } from "vitest"
import { authoritiesFault, authoritiesOf } from "./authorities.ts"
import { createAuthority } from "./pki.ts"
import { printPEM } from "../../apimachinery/pem.ts"

const { certificate } = await createAuthority("one")

test.each([
  ["an empty text", "", undefined],
  ["a certificate", certificate, undefined],
  ["a certificate among others", `words\n${printPEM("KEY", Buffer.from("k"))}${certificate}words`, undefined],
  ["words", "words", "unable to parse bytes as PEM block"],
  ["a key", printPEM("KEY", Buffer.from("k")), "no valid certificate authority data seen"],
  ["a key and words", `${printPEM("KEY", Buffer.from("k"))}words`, "unable to parse bytes as PEM block"],
  [
    "no certificate",
    printPEM("CERTIFICATE", Buffer.from("k")),
    "failed to parse certificate: x509: malformed certificate",
  ],
])("%s as authorities", (_name, text, fault) => {
  expect(authoritiesFault(text)).toBe(fault === undefined ? undefined : `unable to load root certificates: ${fault}`)
})

test("authorities after one that cannot be read are trusted", () => {
  const malformed = printPEM("CERTIFICATE", Buffer.from("k"))
  const caBundle = Buffer.from(`${malformed}words\n${certificate}`).toString("base64")
  expect(authoritiesOf({ caBundle })).toEqual({ certificates: certificate, fault: undefined })
})
