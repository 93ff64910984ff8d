import { X509Certificate } from "node:crypto"
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { loadGatewayKeys } from "./gateway-keys.ts"
import { keyDirectory } from "./key-files.ts"
import { issueClientCertificate } from "./pki.ts"

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "polyplane-keys-"))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return join(path, "pki")
}

test("keys are created once, and only the owner can read them", async () => {
  const path = await directory()
  const first = await loadGatewayKeys(keyDirectory(path), ["localhost", "127.0.0.1", "::1", "*.example.com"])
  const second = await loadGatewayKeys(keyDirectory(path), ["localhost", "127.0.0.1", "::1", "*.example.com"])
  expect(second.serving).toEqual(first.serving)
  expect(second.administrator).toEqual(first.administrator)
  expect(second.tenantTokenSigner.equals(first.tenantTokenSigner)).toBe(true)
  for (const file of await readdir(path)) expect((await stat(join(path, file))).mode & 0o077).toBe(0)
})

test("the serving certificate is reissued by the same authority when a name is missing", async () => {
  const path = await directory()
  const first = await loadGatewayKeys(keyDirectory(path), ["localhost"])
  const second = await loadGatewayKeys(keyDirectory(path), ["localhost", "10.0.0.1"])
  expect(second.servingAuthority.certificate).toBe(first.servingAuthority.certificate)
  expect(second.serving.certificate).not.toBe(first.serving.certificate)
  expect(new X509Certificate(second.serving.certificate).checkIP("10.0.0.1")).toBe("10.0.0.1")
})

test("an expiring certificate is reissued", async () => {
  const path = await directory()
  const { administratorAuthority } = await loadGatewayKeys(keyDirectory(path), ["localhost"])
  const user = { name: "polyplane-admin", groups: ["system:masters"] }
  const ending = await issueClientCertificate(administratorAuthority, user, 24 * 60 * 60_000)
  await writeFile(join(path, "administrator.crt"), ending.certificate)
  await writeFile(join(path, "administrator.key"), ending.key)
  const { administrator } = await loadGatewayKeys(keyDirectory(path), ["localhost"])
  expect(administrator.certificate).not.toBe(ending.certificate)
})
