import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Secret } from "../../apimachinery/object.ts"
import { systemClock, type Clock } from "../../client/clock.ts"
import { silentLog } from "../../client/log.ts"
import { secrets } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { startTestGateway, type TestGateway } from "../../gateway/testing/start-gateway.ts"
import { certificateLifetimes, createSigningKey } from "../../gateway/pki/pki.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import {
  announcedMs,
  publishPeriodically,
  publishIdentity,
  reissued,
  vnAgentServerName,
  writeSecret,
} from "./gateway-secrets.ts"

let gateway: TestGateway
let client: KubeClient

beforeAll(async () => {
  gateway = await startTestGateway()
  client = gateway.gateway.superCluster!.client
})
afterAll(() => gateway?.[Symbol.asyncDispose]())

async function read(name: string) {
  const { data, metadata } = await client.get<Secret>(secrets, "default", name)
  const value = (key: string): string => Buffer.from(data?.[key] ?? "", "base64").toString()
  return { value, revision: metadata.resourceVersion }
}

describe("writeSecret()", () => {
  test("creates it, updates it, and does not write without changes", async () => {
    const where = { namespace: "default", name: "written" }
    await writeSecret(client, where, { a: "1" })
    await writeSecret(client, where, { b: "2" })
    const { value, revision } = await read("written")
    expect([value("a"), value("b")]).toEqual(["1", "2"])
    await writeSecret(client, where, { a: "1", b: "2" })
    expect((await read("written")).revision).toBe(revision)
  })
})

describe("publishIdentity()", () => {
  const publish = async (
    name: string,
    { signer = createSigningKey(), known = "", clock = systemClock as Clock } = {},
  ) => (await publishIdentity(client, { namespace: "default", name }, await signer, { known, clock })).authorities

  test("writes the vn-agents' certificate with its authority, and the signer's public key", async () => {
    const signer = createSigningKey()
    const authority = await publish("first", { signer })
    const { value } = await read("first")
    const certificate = new X509Certificate(value("tls.crt"))
    expect(certificate.verify(new X509Certificate(authority).publicKey)).toBe(true)
    expect(certificate.checkHost(vnAgentServerName)).toBe(vnAgentServerName)
    expect(createPublicKey(value("identity.pub")).equals(createPublicKey(await signer))).toBe(true)
    expect(value("ca.crt")).toBe(authority)
  })

  test("keeps valid secrets", async () => {
    const signer = createSigningKey()
    const authority = await publish("kept", { signer })
    const { revision } = await read("kept")
    expect(await publish("kept", { signer })).toBe(authority)
    expect((await read("kept")).revision).toBe(revision)
  })

  test.for<[string, Record<string, string>]>([
    ["unreadable", { "tls.crt": "nonsense" }],
    ["incomplete", { "tls.key": "" }],
  ])("replaces a secret that is %s, and keeps trusting the previous authority", async ([name, damage]) => {
    const before = await publish(name)
    const encoded = Object.entries(damage).map(([key, value]) => [key, Buffer.from(value).toString("base64") || null])
    await client.patch(secrets, "default", name, { data: Object.fromEntries(encoded) }, { type: "merge" })
    const after = await publish(name)
    expect(after).toMatch(new RegExp(`^-----BEGIN CERTIFICATE-----[^]+-----END CERTIFICATE-----\n`))
    expect(after.endsWith(before)).toBe(true)
    const { value } = await read(name)
    const [authority = ""] = after.split(before)
    expect(new X509Certificate(value("tls.crt")).verify(new X509Certificate(authority).publicKey)).toBe(true)
  })

  test("renews a certificate when others have had time to read its authority", async () => {
    const signer = createSigningKey()
    const clock = new FakeClock(Date.now())
    const before = await publish("renewed", { signer, clock })
    const old = (await read("renewed")).value("tls.crt")
    clock.advance(new X509Certificate(old).validToDate.getTime() - clock.now() - certificateLifetimes.renewBeforeMs)
    const announced = await publish("renewed", { signer, clock })
    expect([announced.endsWith(before), announced.length > before.length]).toEqual([true, true])
    clock.advance(announcedMs - 1)
    expect(await publish("renewed", { signer, clock })).toBe(announced)
    expect((await read("renewed")).value("tls.crt")).toBe(old)
    clock.advance(1)
    expect(await publish("renewed", { signer, clock })).toBe(announced)
    const { value } = await read("renewed")
    const certificate = new X509Certificate(value("tls.crt"))
    expect(certificate.verify(new X509Certificate(announced).publicKey)).toBe(true)
    expect(certificate.checkPrivateKey(createPrivateKey(value("tls.key")))).toBe(true)
    expect([value("ca.crt"), value("next.key")]).toEqual([announced, ""])
  })

  test("does not wait if what vn-agents have is damaged meanwhile", async () => {
    const signer = createSigningKey()
    const clock = new FakeClock(Date.now())
    await publish("hurried", { signer, clock })
    const old = new X509Certificate((await read("hurried")).value("tls.crt"))
    clock.advance(old.validToDate.getTime() - clock.now() - certificateLifetimes.renewBeforeMs)
    const announced = await publish("hurried", { signer, clock })
    await client.patch(secrets, "default", "hurried", { data: { "tls.crt": null } }, { type: "merge" })
    expect(await publish("hurried", { signer, clock })).toBe(announced)
    const { value } = await read("hurried")
    expect(new X509Certificate(value("tls.crt")).verify(new X509Certificate(announced).publicKey)).toBe(true)
  })

  // vn-agents, and what the gateways know, follow minutes later.
  test("restores one that is deleted, and keeps trusting the authority before, as those do that follow", async () => {
    const before = await publish("deleted")
    await client.delete(secrets, "default", "deleted")
    const after = await publish("deleted", { known: before })
    expect([after.endsWith(before), after.length > before.length]).toEqual([true, true])
    expect((await read("deleted")).value("ca.crt")).toBe(after)
    expect(await publish("deleted", { known: after })).toBe(after)
    await client.delete(secrets, "default", "deleted")
    const [made, follows] = [await publish("deleted"), await publish("deleted", { known: after })]
    expect(follows).toBe(made + after)
  })
})

test("of two gateways that make the vn-agents' certificate at the same time one follows the other", async () => {
  const where = { namespace: "default", name: "both" }
  const signer = await createSigningKey()
  const { authorities: old } = await publishIdentity(client, where, signer)
  const damage = { data: { "tls.key": null } }
  await client.patch(secrets, where.namespace, where.name, damage, { type: "merge" })
  const outcomes = await Promise.allSettled([1, 2].map(() => publishIdentity(client, where, signer)))
  const made = outcomes.flatMap((one) => (one.status === "fulfilled" ? [one.value.authorities] : []))
  expect(made).toHaveLength(1)
  expect((await publishIdentity(client, where, signer)).authorities).toBe(made[0])
  expect(made[0]?.endsWith(old)).toBe(true)
})

describe("publishPeriodically()", () => {
  const published = { what: "secrets", againMs: 24 * 3_600_000 }

  test("retries, and logs each reason once", async () => {
    const errors: string[] = []
    const log = { ...silentLog, warn: (fields: object) => void errors.push((fields as { error: string }).error) }
    const failures = ["down", "down", "refused"]
    const stopping = new AbortController()
    const publish = async (): Promise<boolean> => {
      const failure = failures.shift()
      if (failure !== undefined) throw new Error(failure)
      stopping.abort()
      return Promise.resolve(true)
    }
    await publishPeriodically({ ...published, publish }, { signal: stopping.signal, log })
    expect(errors).toEqual(["down", "refused"])
  })

  test("publishes again after the time given, and says so once, and when it had to be written again", async () => {
    const clock = new FakeClock()
    const stopping = new AbortController()
    const times: number[] = []
    const began = clock.now()
    const publish = (): Promise<boolean> => {
      times.push((clock.now() - began) / 3_600_000)
      return Promise.resolve(times.length === 3)
    }
    const said: string[] = []
    const log = { ...silentLog, info: (_fields: object, message: string) => void said.push(message) }
    const kept = publishPeriodically({ ...published, publish }, { signal: stopping.signal, log, clock })
    for (let day = 0; day < 3; day++) {
      await expect.poll(() => clock.timers).toBe(1)
      clock.advance(24 * 3_600_000)
    }
    await expect.poll(() => times).toEqual([0, 24, 48, 72])
    expect(said).toEqual(Array.from({ length: 2 }, () => "published secrets in the super cluster"))
    stopping.abort()
    await kept
  })

  test("ends with the signal", async () => {
    const stopping = new AbortController()
    const publish = (): Promise<boolean> => {
      stopping.abort()
      return Promise.reject(new Error("down"))
    }
    await publishPeriodically({ ...published, publish }, { signal: stopping.signal, log: silentLog })
    expect(stopping.signal.aborted).toBe(true)
  })
})

test("an issued certificate is renewed when it is old", async () => {
  const clock = new FakeClock()
  let issued = 0
  const next = reissued(() => Promise.resolve(String(++issued)), 1_000, clock)
  const seen = [await next(), await next()]
  clock.advance(1_000)
  expect([...seen, await next()]).toEqual(["1", "1", "2"])
})
