// The certificates of a gateway that runs for longer than their lifetime.

import { X509Certificate } from "node:crypto"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect, type TLSSocket } from "node:tls"
import { describe, expect, onTestFinished, test } from "vitest"
import { systemClock } from "../../client/clock.ts"
import { silentLog } from "../../client/log.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { type GatewayKeys, loadCertificates, loadGatewayKeys } from "./gateway-keys.ts"
import { keyDirectory } from "./key-files.ts"
import { keepCertificates, secureContextOf } from "./renewal.ts"
import { startTestGateway } from "../testing/start-gateway.ts"

const dayMs = 24 * 60 * 60_000
const minuteMs = 60_000

/** Trusts only the gateway's authority. */
async function shake(port: number, ca: string): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port, ca, ALPNProtocols: ["h2", "http/1.1"] })
  onTestFinished(() => void socket.destroy())
  await once(socket, "secureConnect")
  return socket
}

async function servedOn(port: number, ca: string): Promise<string> {
  const socket = await shake(port, ca)
  const { fingerprint256 } = new X509Certificate(socket.getPeerCertificate().raw)
  socket.destroy()
  return fingerprint256
}

describe("a gateway", () => {
  test.for([false, true])("renews its certificates at run time (HTTP/2: %s)", async (http2) => {
    // Certificates from the start of the test and from its end are both valid today.
    const clock = new FakeClock(Date.now() - 320 * dayMs)
    await using fixture = await startTestGateway({ clock, http2 })
    const { gateway } = fixture
    const port = Number(new URL(gateway.url).port)
    const ca = gateway.certificateAuthority
    const first = await servedOn(port, ca)
    const before = gateway.administrator
    const kept = await shake(port, ca)

    clock.advance(304 * dayMs)
    await expect.poll(() => clock.timers).toBe(1)
    expect(await servedOn(port, ca)).toBe(first)
    expect(gateway.administrator).toBe(before)

    clock.advance(2 * dayMs)
    await expect.poll(() => servedOn(port, ca)).not.toBe(first)
    const served = await shake(port, ca)
    expect(served.getPeerCertificate().valid_from).not.toBe(kept.getPeerCertificate().valid_from)
    expect(kept.destroyed).toBe(false)
    expect(served.alpnProtocol).toBe(http2 ? "h2" : "http/1.1")
    const after = gateway.administrator
    expect(after.certificate).not.toBe(before.certificate)
    expect(await gateway.adminKubeconfig()).toContain(Buffer.from(after.certificate).toString("base64"))
    for (const who of [before, after]) expect((await fixture.request("/api/v1/namespaces", who)).code).toBe(200)

    for (const socket of [kept, served]) socket.destroy() // the gateway waits for them when it stops
    // The next start uses the files on disk.
    const onDisk = await readFile(join(fixture.dataDir, "pki", "serving.crt"), "utf8")
    expect(new X509Certificate(onDisk).fingerprint256).toBe(await servedOn(port, ca))
  })

  test("serves no certificate of a clock that was ahead, once that has been corrected", async () => {
    const clock = new FakeClock(Date.now())
    await using fixture = await startTestGateway({ clock })
    const { gateway } = fixture
    const port = Number(new URL(gateway.url).port)
    const ca = gateway.certificateAuthority
    clock.correct(320 * dayMs)
    clock.advance(minuteMs)
    const isValid = ({ certificate }: { certificate: string }): boolean =>
      new X509Certificate(certificate).validFromDate.getTime() <= Date.now()
    await expect.poll(() => isValid(gateway.administrator)).toBe(false)
    await expect
      .poll(() => shake(port, ca).catch((error: unknown) => error))
      .toMatchObject({ code: "CERT_NOT_YET_VALID" })

    await expect.poll(() => clock.timers).toBe(1)
    clock.correct(-320 * dayMs)
    clock.advance(minuteMs)
    await expect.poll(() => isValid(gateway.administrator)).toBe(true)
    const socket = await shake(port, ca)
    expect(socket.authorized).toBe(true)
    socket.destroy() // the gateway waits for it when it stops
    expect((await fixture.request("/api/v1/namespaces", gateway.administrator)).code).toBe(200)
  })
})

describe("a worker", () => {
  test("loads the certificates of its primary when they are complete", async () => {
    await using stack = new AsyncDisposableStack()
    const { directory, keys, renewed } = await started(stack)
    const server = createServer(secureContextOf(keys.serving))
    const port = await listening(server, stack)
    const clock = new FakeClock()
    const messages: string[] = []
    const note = (_: object, message: string): void => void messages.push(message)
    const load = () => loadCertificates(keyDirectory(directory), undefined, keys, clock)
    keepCertificates(keys, load, server, stack, { clock, log: { ...silentLog, info: note, warn: note } })
    const ca = keys.servingAuthority.certificate
    const first = await servedOn(port, ca)
    const later = async (): Promise<string> => {
      const count = messages.length
      clock.advance(minuteMs)
      await expect.poll(() => messages.length > count && clock.timers === 1).toBe(true)
      return servedOn(port, ca)
    }

    await writeFile(join(directory, "serving.key"), renewed.serving.key)
    expect(await later()).toBe(first)
    await writeFile(join(directory, "serving.crt"), renewed.serving.certificate)
    expect(await later()).toBe(new X509Certificate(renewed.serving.certificate).fingerprint256)
    expect(messages).toEqual([
      "the certificate of the gateway cannot be reloaded; retrying",
      "loaded the renewed certificate of the gateway",
    ])
  })
})

/** Keys in a directory, and others that the same authorities have issued. */
async function started(
  stack: AsyncDisposableStack,
): Promise<{ directory: string; keys: GatewayKeys; renewed: GatewayKeys }> {
  const directory = await mkdtemp(join(tmpdir(), "polyplane-renewal-"))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const files = keyDirectory(directory)
  await loadGatewayKeys(files, ["127.0.0.1"])
  const keys = await loadGatewayKeys(files, undefined)
  const replica = await loadCertificates({ ...files, shared: true }, ["127.0.0.1"], keys, systemClock)
  return { directory, keys, renewed: { ...keys, ...replica } }
}

async function listening(server: Server, stack: AsyncDisposableStack): Promise<number> {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  stack.defer(() => void server.close())
  return (server.address() as AddressInfo).port
}
