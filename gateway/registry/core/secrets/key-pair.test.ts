import { createPrivateKey, generateKeyPairSync } from "node:crypto"
import { expect, test } from "vitest"
import { createAuthority } from "../../../pki/pki.ts"
import { keyPairFault } from "./key-pair.ts"

const { certificate, keyText } = await createAuthority("a")
const pem = { type: "pkcs8", format: "pem" } as const
const another = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export(pem).toString()
const ofAnotherKind = generateKeyPairSync("ed25519").privateKey.export(pem).toString()
const older = createPrivateKey(keyText).export({ type: "sec1", format: "pem" }).toString()

test.each([
  ["fits", certificate, keyText, undefined],
  ["fits in its older form", certificate, older, undefined],
  ["belongs to another certificate", certificate, another, "tls: private key does not match public key"],
  ["has another type", certificate, ofAnotherKind, "tls: private key type does not match public key type"],
  ["is empty", certificate, "", "tls: failed to find any PEM data in key input"],
  [
    "is a certificate",
    certificate,
    certificate,
    "tls: found a certificate rather than a key in the PEM for the private key",
  ],
  ["is broken", certificate, keyText.replace(/\n.*\n/, "\n"), "tls: failed to parse private key"],
])("a key that %s", (_name, certificateText, key, fault) => {
  expect(keyPairFault(certificateText, key)).toBe(fault)
})
