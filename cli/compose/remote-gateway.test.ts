// A part that runs for longer than its kubeconfig is valid: the file is replaced, and the part then uses the new identity.

import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { silentLog } from "../../client/log.ts"
import { connectTenants } from "../../client/remote-tenants.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { createAuthority, issueClientCertificate } from "../../gateway/pki/pki.ts"
import { startTestGateway, type TestGateway } from "../../gateway/testing/start-gateway.ts"
import { readKubeconfigFile } from "./cluster.ts"
import { connectGateway, followKubeconfig } from "./remote-gateway.ts"

let fixture: TestGateway
let directory: string
beforeAll(async () => {
  fixture = await startTestGateway()
  directory = await mkdtemp(path.join(tmpdir(), "remote-gateway-"))
})
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

test("loads a renewed kubeconfig, but not an incomplete one", async () => {
  const file = path.join(directory, "kubeconfig")
  const good = await fixture.gateway.adminKubeconfig()
  const authority = await createAuthority("of somebody else")
  const stranger = await issueClientCertificate(authority, { name: "stranger", groups: [] })
  const inBase64 = (text: string): string => Buffer.from(text).toString("base64")
  const bad = good
    .replace(/client-certificate-data: .*/, `client-certificate-data: ${inBase64(stranger.certificate)}`)
    .replace(/client-key-data: .*/, `client-key-data: ${inBase64(stranger.key)}`)
  await writeFile(file, good)
  await fixture.createTenant("first")
  const config = await readKubeconfigFile(file)
  await using tenants = await connectTenants(config)
  const clock = new FakeClock()
  const stopping = new AbortController()
  const messages: string[] = []
  const note = (_: object, message: string): void => void messages.push(message)
  const following = followKubeconfig(file, config, (identity) => tenants.renew(identity), {
    signal: stopping.signal,
    log: { ...silentLog, info: note, warn: note },
    clock,
  })
  const after = async (text: string): Promise<string | undefined> => {
    await writeFile(file, text)
    messages.length = 0
    await expect.poll(() => clock.timers).toBe(1)
    clock.advance(60_000)
    await expect.poll(() => clock.timers).toBe(1)
    return messages[0]
  }
  const address = () => tenants.address("first")
  expect(await after(good)).toBeUndefined()
  expect(await address()).toMatchObject({ server: `${fixture.url}/tenants/first` })
  expect(await after("kind: Config")).toBe("the kubeconfig cannot be reloaded; retrying")
  expect(await address()).toMatchObject({ server: `${fixture.url}/tenants/first` })
  expect(await after(bad)).toBe("loaded the renewed kubeconfig")
  await expect(address()).rejects.toMatchObject({ code: 401 })
  expect(await after(good)).toBe("loaded the renewed kubeconfig")
  expect(await address()).toMatchObject({ server: `${fixture.url}/tenants/first` })
  stopping.abort()
  await following
})

test("refuses the kubeconfig of a tenant", async () => {
  const file = path.join(directory, "tenant")
  await writeFile(file, (await fixture.createTenant("other")).kubeconfig)
  const connecting = connectGateway(file, { log: silentLog, signal: new AbortController().signal })
  await expect(connecting).rejects.toThrow(`${file} is not the gateway's admin kubeconfig: `)
})

test("does not run the kubeconfig's credential plugin to see whether it was renewed", async () => {
  const file = path.join(directory, "with-plugin")
  const plugin = path.join(directory, "plugin")
  const runs = path.join(directory, "runs")
  const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token: "t" } }
  await writeFile(plugin, `#!/bin/sh\nprintf x >> '${runs}'\necho '${JSON.stringify(credential)}'\n`)
  await chmod(plugin, 0o700)
  const kubeconfigWith = (authority: string): string =>
    JSON.stringify({
      kind: "Config",
      "current-context": "a",
      contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
      clusters: [
        {
          name: "a",
          cluster: {
            server: fixture.url,
            "certificate-authority-data": Buffer.from(authority).toString("base64"),
          },
        },
      ],
      users: [{ name: "a", user: { exec: { apiVersion: credential.apiVersion, command: plugin } } }],
    })
  const [first, second] = await Promise.all([createAuthority("first"), createAuthority("second")])
  await writeFile(file, kubeconfigWith(first.certificate))
  const config = await readKubeconfigFile(file)
  const clock = new FakeClock()
  const stopping = new AbortController()
  const renewed: unknown[] = []
  const context = { signal: stopping.signal, log: silentLog, clock }
  const following = followKubeconfig(file, config, (identity) => renewed.push(identity), context)
  for (let minute = 0; minute < 3; minute++) {
    await expect.poll(() => clock.timers).toBe(1)
    clock.advance(60_000)
  }
  await expect.poll(() => clock.timers).toBe(1)
  await writeFile(file, kubeconfigWith(second.certificate))
  clock.advance(60_000)
  await expect.poll(() => renewed).toEqual([{ certificateAuthority: second.certificate }])
  expect(await readFile(runs, "utf8")).toBe("x")
  stopping.abort()
  await following
})
