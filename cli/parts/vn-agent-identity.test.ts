import { createPublicKey, type KeyObject } from "node:crypto"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { get } from "node:https"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { silentLog } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { createAuthority, createSigningKey, issueServingCertificate } from "../../gateway/pki/pki.ts"
import { eventually } from "../../test/harness/eventually.ts"
import { signIdentity } from "../../vn-agent/identity.ts"
import { defaultVnAgentLimits } from "../../vn-agent/options.ts"
import { VnAgent } from "../../vn-agent/server.ts"
import {
  followIdentity,
  followKubeletIdentity,
  readIdentity,
  readKubeletIdentity,
  type IdentityFiles,
  type KubeletIdentity,
} from "./vn-agent-identity.ts"

let directory: string
let files: IdentityFiles

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "polyplane-identity-"))
  const file = (name: string): string => path.join(directory, name)
  files = { identityKeys: file("identity.pub"), certificate: file("tls.crt"), key: file("tls.key") }
})
afterEach(() => rm(directory, { recursive: true, force: true }))

interface Issued {
  authority: string
  certificate: string
  key: string
  signer: KeyObject
}

async function issue(): Promise<Issued> {
  const authority = await createAuthority("test")
  const serving = await issueServingCertificate(authority, ["127.0.0.1"])
  return { authority: authority.certificate, ...serving, signer: await createSigningKey() }
}

async function write({ certificate, key, signer }: Issued): Promise<void> {
  await writeFile(files.certificate, certificate)
  await writeFile(files.key, key)
  await writeFile(files.identityKeys, createPublicKey(signer).export({ type: "spki", format: "pem" }))
}

/** 404 if the agent accepts the token (the path does not exist), 401 if not; fails if the agent has another certificate. */
async function ask(port: number, { authority: ca, signer }: Issued): Promise<number | undefined> {
  const token = await signIdentity({ tenant: "demo", clusterKey: "default-demo" }, "node-1", signer)
  const headers = { authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path: "/nothing", ca, headers, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on("error", reject)
  })
}

describe("followIdentity()", () => {
  test("reloads a running vn-agent's certificates and CAs", async () => {
    const [first, second] = [await issue(), await issue()]
    await write(first)
    const identity = await readIdentity(files)
    await using agent = await VnAgent.start({
      ...identity,
      node: "node-1",
      host: "127.0.0.1",
      port: 0,
      superClient: {} as KubeClient, // unused: no path of these requests belongs to a pod
      kubelet: { host: "127.0.0.1", port: 1, certificateAuthority: first.authority, ...first },
      limits: defaultVnAgentLimits,
      log: silentLog,
    })
    const clock = new FakeClock()
    const stopping = new AbortController()
    const warned: string[] = []
    const log = { ...silentLog, warn: (fields: object) => void warned.push((fields as { error: string }).error) }
    const following = followIdentity(files, identity, (renewed) => agent.renew(renewed), {
      signal: stopping.signal,
      log,
      clock,
    })
    expect(await ask(agent.port, first)).toBe(404)
    expect(await ask(agent.port, { ...second, authority: first.authority })).toBe(401)

    // The files are partly replaced.
    await writeFile(files.certificate, second.certificate)
    clock.advance(60_000)
    await eventually(() => warned.length === 1 && clock.timers === 1)
    expect(warned[0]).toContain("are not a certificate and its key")
    expect(await ask(agent.port, first)).toBe(404)

    await write(second)
    clock.advance(60_000)
    await eventually(() => clock.timers === 1)
    expect(await ask(agent.port, second)).toBe(404)
    expect(await ask(agent.port, { ...first, authority: second.authority })).toBe(401)
    await expect(ask(agent.port, first)).rejects.toThrow(/certificate/)
    stopping.abort()
    await following
  })
})

describe("followKubeletIdentity()", () => {
  test("reports changed kubelet files once they match", async () => {
    const [first, second] = [await issue(), await issue()]
    const kubelet = { ...files, certificateAuthority: path.join(directory, "ca.crt") }
    const identityOf = ({ authority, certificate, key }: Issued) => ({
      certificateAuthority: authority,
      certificate,
      key,
    })
    await write(first)
    await writeFile(kubelet.certificateAuthority, first.authority)
    const current = await readKubeletIdentity(kubelet)
    expect(current).toEqual(identityOf(first))
    const clock = new FakeClock()
    const stopping = new AbortController()
    const warned: unknown[] = []
    const renewed: KubeletIdentity[] = []
    const following = followKubeletIdentity(kubelet, current, (identity) => void renewed.push(identity), {
      signal: stopping.signal,
      log: { ...silentLog, warn: (fields) => void warned.push(fields) },
      clock,
    })
    await writeFile(kubelet.certificateAuthority, second.authority)
    await writeFile(kubelet.certificate, second.certificate)
    clock.advance(60_000)
    await eventually(() => warned.length === 1 && clock.timers === 1)
    expect(renewed).toEqual([])
    await write(second)
    clock.advance(60_000)
    await eventually(() => renewed.length === 1)
    expect(renewed).toEqual([identityOf(second)])
    stopping.abort()
    await following
  })
})

describe("readIdentity()", () => {
  test.for<[string, keyof IdentityFiles, string, string]>([
    ["is not PEM", "certificate", "nonsense", "tls.crt is not a PEM file"],
    ["does not belong to the certificate", "key", "other", "tls.crt and "],
    ["holds no public key", "identityKeys", "certificate", "identity.pub has no public key"],
  ])("names a file that %s", async ([, name, content, message]) => {
    const [issued, other] = [await issue(), await issue()]
    await write(issued)
    const contents: Record<string, string> = { other: other.key, certificate: issued.certificate }
    await writeFile(files[name], contents[content] ?? content)
    await expect(readIdentity(files)).rejects.toThrow(message)
  })

  test("names a missing file", async () => {
    await expect(readIdentity(files)).rejects.toThrow(`${files.certificate} cannot be read: ENOENT`)
  })
})
