import { X509Certificate } from "node:crypto"
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createMemoryStore } from "../../storage/memory/store.ts"
import { StartError } from "../start-error.ts"
import { loadGatewayKeys } from "./gateway-keys.ts"
import { keyDirectory, keyRecords } from "./key-files.ts"
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

test("a certificate that cannot be read is reissued", async () => {
  const path = await directory()
  await loadGatewayKeys(keyDirectory(path), ["localhost"])
  await writeFile(join(path, "serving.key"), "nonsense")
  await writeFile(join(path, "administrator.crt"), "nonsense")
  const { serving, administrator } = await loadGatewayKeys(keyDirectory(path), ["localhost"])
  expect(new X509Certificate(serving.certificate).checkHost("localhost")).toBe("localhost")
  expect(new X509Certificate(administrator.certificate).subject).toContain("polyplane-admin")
})

test("of gateways that create the keys concurrently, all get the first one's", async () => {
  await using store = createMemoryStore()
  const files = keyRecords(store)
  let others: ReturnType<typeof loadGatewayKeys> | undefined
  const keys = await loadGatewayKeys(
    {
      ...files,
      async read(names) {
        const found = await files.read(names)
        await (others ??= loadGatewayKeys(keyRecords(store), ["localhost"])) // after the first read, which found nothing
        return found
      },
    },
    ["localhost"],
  )
  const { servingAuthority, administratorAuthority } = (await others)!
  expect(keys.servingAuthority.certificate).toBe(servingAuthority.certificate)
  expect(keys.administratorAuthority.certificate).toBe(administratorAuthority.certificate)
})

test.each([
  ["serving-ca.key", "nonsense", `"pki/serving-ca" cannot be used: the certificate and its key cannot be read.`],
  ["administrators-ca.crt", "", `"pki/administrators-ca" cannot be used: the certificate and its key cannot be read.`],
  ["serving-ca.key", undefined, `"pki/serving-ca" cannot be used: there is a certificate without its key.`],
  ["tenant-tokens.key", "nonsense", `"pki/tenant-tokens" cannot be used: the key cannot be read.`],
])("%s with %j is reported and nothing is replaced", async (file, content, message) => {
  const path = await directory()
  const { servingAuthority } = await loadGatewayKeys(keyDirectory(path), ["localhost"])
  const before = await readFile(join(path, file), "utf8")
  await (content === undefined ? rm(join(path, file)) : writeFile(join(path, file), content))
  await expect(loadGatewayKeys(keyDirectory(path), ["localhost"])).rejects.toThrow(
    new StartError(`the gateway's keys ${message} Restore them from a backup`),
  )
  await writeFile(join(path, file), before)
  const again = await loadGatewayKeys(keyDirectory(path), ["localhost"])
  expect(again.servingAuthority.certificate).toBe(servingAuthority.certificate)
})
