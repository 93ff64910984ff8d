// A process that runs for longer than its certificate for the super cluster is valid: the files named by the kubeconfig are
// replaced.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, test } from "vitest"
import { silentLog } from "../../client/log.ts"
import { namespaces } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { createAuthority, issueClientCertificate } from "../../gateway/pki/pki.ts"
import { startTestGateway } from "../../gateway/testing/start-gateway.ts"
import { createLastingClient, readKubeconfigFile } from "./cluster.ts"

const kubeconfig = (server: string): string => `
apiVersion: v1
kind: Config
current-context: super
contexts: [{name: super, context: {cluster: super, user: admin}}]
clusters: [{name: super, cluster: {server: "${server}", certificate-authority: ca.crt}}]
users: [{name: admin, user: {client-certificate: tls.crt, client-key: tls.key}}]
`

test("reloads the files of a kubeconfig", async () => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(path.join(tmpdir(), "polyplane-super-"))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const fixture = stack.use(await startTestGateway())
  const { gateway } = fixture
  const other = await createAuthority("of somebody else")
  const stranger = await issueClientCertificate(other, { name: "stranger", groups: [] })
  const write = (name: string, text: string): Promise<void> => writeFile(path.join(directory, name), text)
  const writePair = async (pair: { certificate: string; key: string }): Promise<void> => {
    await write("tls.crt", pair.certificate)
    await write("tls.key", pair.key)
  }
  await write("ca.crt", gateway.certificateAuthority)
  await writePair(gateway.administrator)
  await write("kubeconfig", kubeconfig(gateway.url))
  const clock = new FakeClock()
  const messages: string[] = []
  const note = (_: object, message: string): void => void messages.push(message)
  const log = { ...silentLog, info: note, warn: note }
  const renewed: (string | undefined)[] = []
  const config = await readKubeconfigFile(path.join(directory, "kubeconfig"))
  const client = stack.use(
    createLastingClient(config, { log, clock, renewed: ({ certificate }) => void renewed.push(certificate) }),
  )
  const ask = async (): Promise<number> => (await client.list(namespaces)).items.length
  const later = async (): Promise<string | undefined> => {
    messages.length = 0
    await expect.poll(() => clock.timers).toBe(1)
    clock.advance(60_000)
    await expect.poll(() => clock.timers).toBe(1)
    return messages[0]
  }
  expect(await ask()).toBeGreaterThan(0)

  // A change of current-context is not followed.
  await write("kubeconfig", kubeconfig("https://127.0.0.1:1"))
  expect(await later()).toBeUndefined()
  expect(await ask()).toBeGreaterThan(0)

  await write("tls.crt", stranger.certificate)
  expect(await later()).toBe("the certificate for the super cluster cannot be reloaded; retrying")
  expect(await ask()).toBeGreaterThan(0)

  await writePair(stranger)
  expect(await later()).toBe("loaded the renewed certificate for the super cluster")
  await expect(ask()).rejects.toMatchObject({ code: 401 })
  expect(renewed).toEqual([stranger.certificate])

  await writePair(gateway.administrator)
  await write("ca.crt", other.certificate)
  await later()
  await expect(ask()).rejects.toThrow(/certificate/)

  await write("ca.crt", other.certificate + (await readFile(path.join(fixture.dataDir, "pki/serving-ca.crt"), "utf8")))
  await later()
  expect(await ask()).toBeGreaterThan(0)
})

test("follows nothing if a kubeconfig names no files", async () => {
  await using fixture = await startTestGateway()
  const clock = new FakeClock()
  const config = await readKubeconfigFile(await fixture.gateway.adminKubeconfig())
  await using client = createLastingClient(config, { log: silentLog, clock })
  expect((await client.list(namespaces)).items).not.toEqual([])
  expect(clock.timers).toBe(0)
})
