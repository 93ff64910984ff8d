// Issued certificates are parsed by OpenSSL, through Node.

import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from "node:crypto"
import { createServer, connect } from "node:tls"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { describe, expect, test } from "vitest"
import { createKeyPair, publicKeyOf } from "./key-pair.ts"
import { createAuthority, issueClientCertificate, issueServingCertificate } from "./pki.ts"

const names = ["localhost", "*.example.com", "127.0.0.1", "::1", "2001:db8::7:0:1", "::ffff:10.1.2.3"]

describe("key pairs", () => {
  test("have the encoding of OpenSSL", () => {
    for (let round = 0; round < 50; round++) {
      const { key, pem, publicKey } = createKeyPair()
      expect(createPrivateKey(pem).export({ type: "sec1", format: "pem" })).toBe(pem)
      expect(createPublicKey(key).export({ type: "spki", format: "der" })).toEqual(publicKey)
      expect(publicKeyOf(pem)).toEqual(publicKey)
    }
  })

  test.each([
    ["in PKCS #8", generateKeyPairSync("ec", { namedCurve: "prime256v1" })],
    ["on another curve", generateKeyPairSync("ec", { namedCurve: "secp384r1" })],
    ["of RSA", generateKeyPairSync("rsa", { modulusLength: 2048 })],
  ])("of %s allow computing the public key", (_what, { privateKey, publicKey }) => {
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString()
    expect(publicKeyOf(pem)).toEqual(publicKey.export({ type: "spki", format: "der" }))
  })
})

describe("certificates", () => {
  test("an authority is self-signed", async () => {
    const authority = new X509Certificate((await createAuthority("polyplane tenant 1")).certificate)
    expect(authority.ca).toBe(true)
    expect(authority.subject).toBe("CN=polyplane tenant 1")
    expect(authority.verify(authority.publicKey)).toBe(true)
    expect(Date.parse(authority.validTo) - Date.now()).toBeGreaterThan(9 * 365 * 86_400_000)
  })

  test("a client certificate contains user, groups and issuer", async () => {
    const authority = await createAuthority("ö authority")
    const issued = await issueClientCertificate(authority, { name: "jane, doe=1", groups: ["system:masters", "b"] })
    const certificate = new X509Certificate(issued.certificate)
    const parent = new X509Certificate(authority.certificate)
    expect(certificate.toLegacyObject().subject).toEqual({ O: ["system:masters", "b"], CN: "jane, doe=1" })
    expect(certificate.checkIssued(parent)).toBe(true)
    expect(certificate.verify(parent.publicKey)).toBe(true)
    expect(certificate.ca).toBe(false)
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"])
    expect(certificate.checkPrivateKey(createPrivateKey(issued.key))).toBe(true)
  })

  test("a serving certificate is valid for its names", async () => {
    const { certificate } = await issueServingCertificate(await createAuthority("a"), names)
    const read = new X509Certificate(certificate)
    for (const name of ["localhost", "a.example.com"]) expect(read.checkHost(name)).toBeDefined()
    for (const name of ["127.0.0.1", "::1", "2001:db8::7:0:1", "::ffff:10.1.2.3"]) {
      expect(read.checkIP(name), name).toBeDefined()
    }
    expect(read.checkHost("other")).toBeUndefined()
    expect(read.checkIP("127.0.0.2")).toBeUndefined()
  })

  test("both sides of a connection are accepted by each other", async () => {
    const authority = await createAuthority("a")
    const [server, client] = await Promise.all([
      issueServingCertificate(authority, ["localhost"]),
      issueClientCertificate(authority, { name: "u", groups: [] }),
    ])
    const ca = authority.certificate
    const options = { cert: server.certificate, key: server.key, ca, requestCert: true, rejectUnauthorized: true }
    const listening = createServer(options, (socket) => socket.end(String(socket.getPeerCertificate().subject.CN)))
    listening.listen(0, "localhost")
    await once(listening, "listening")
    try {
      const { port } = listening.address() as AddressInfo
      const socket = connect({ port, host: "localhost", ca, cert: client.certificate, key: client.key })
      const chunks: Buffer[] = []
      for await (const chunk of socket) chunks.push(chunk as Buffer)
      expect(Buffer.concat(chunks).toString()).toBe("u")
    } finally {
      listening.close()
    }
  })

  test("serial numbers are unique", async () => {
    const authority = await createAuthority("a")
    const issued = await Promise.all(
      Array.from({ length: 20 }, () => issueClientCertificate(authority, { name: "u", groups: [] })),
    )
    expect(new Set(issued.map(({ certificate }) => new X509Certificate(certificate).serialNumber)).size).toBe(20)
  })
})
