import { createPublicKey, generateKeyPairSync } from "node:crypto"
import { SignJWT } from "jose"
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest"
import type { JsonObject } from "../../../apimachinery/schema/json-object.ts"
import { Backends } from "../../backends/backends.ts"
import { localNetworks, NetworkRules } from "../../backends/networks.ts"
import { ServerHandshakes } from "../../backends/server-handshakes.ts"
import { type WebhookReply, WebhookServer } from "../../testing/webhook-server.ts"
import type { Pause } from "./expressions.ts"
import { verifiedClaims } from "./id-token.ts"
import { IssuerKeys } from "./issuer-keys.ts"

const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" })
const { privateKey } = newKeys()
const other = newKeys()
const nobody = (): Promise<never> => Promise.reject(new Error("URLs need no objects"))
const backends = new Backends({
  reader: { get: nobody, list: nobody },
  nodes: { dial: nobody },
  networks: new NetworkRules(localNetworks),
  handshakes: new ServerHandshakes(),
})
const freshMs = 10 * 60_000
const cooldownMs = 10_000

let issuer: WebhookServer
let isDown = false
/** Published instead of theirs. */
let published: unknown[] | undefined

const answer = (path: string): WebhookReply => {
  if (isDown) return { code: 503, text: "" }
  const keys = published ?? [
    { ...other.publicKey.export({ format: "jwk" }), kid: "other", alg: "ES256" },
    { ...createPublicKey(privateKey).export({ format: "jwk" }), kid: "one", alg: "ES256" },
  ]
  return { body: path === "/keys" ? { keys } : { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` } }
}

beforeAll(async () => {
  issuer = await WebhookServer.start(({ path }) => answer(path))
})

afterEach(() => {
  vi.restoreAllMocks()
  isDown = false
  published = undefined
  issuer.calls.length = 0
})

afterAll(async () => {
  backends[Symbol.dispose]()
  await issuer[Symbol.asyncDispose]()
})

/** Advances the clock. */
function wait(ms: number): void {
  const at = performance.now() + ms
  vi.spyOn(performance, "now").mockImplementation(() => at)
}

const keysOf = (pause: Pause = () => undefined): IssuerKeys =>
  new IssuerKeys({ url: issuer.url, certificateAuthority: issuer.certificateAuthority }, { backends, pause })

async function claimsOf(keys: IssuerKeys, kid?: string): Promise<JsonObject> {
  const header = { alg: "ES256", ...(kid === undefined ? {} : { kid }) }
  const token = await new SignJWT({ aud: "a", exp: 4e9 }).setProtectedHeader(header).sign(privateKey)
  return verifiedClaims(token, { audiences: ["a"], keys, aside: (job) => job(), action: "verify" })
}

const isGood = (keys: IssuerKeys, kid?: string): Promise<boolean> =>
  claimsOf(keys, kid).then(
    () => true,
    () => false,
  )

test("keys are fetched again after an interval", async () => {
  const keys = keysOf()
  expect(await isGood(keys, "one")).toBe(true)
  expect(await isGood(keys, "one")).toBe(true)
  expect(issuer.calls.length).toBe(2)
  wait(freshMs + 1)
  expect(await isGood(keys, "one")).toBe(true)
  expect(issuer.calls.length).toBe(4)
})

test("cached keys remain valid while the issuer is unavailable", async () => {
  const keys = keysOf()
  expect(await isGood(keys, "one")).toBe(true)
  isDown = true
  wait(freshMs + 1)
  expect(await isGood(keys, "one")).toBe(true)
  expect(await isGood(keys, "two")).toBe(false)
})

test("a token that names no key is valid while the issuer is unavailable, too", async () => {
  const keys = keysOf()
  expect(await isGood(keys)).toBe(true)
  isDown = true
  wait(cooldownMs + 1)
  expect(await isGood(keys)).toBe(true)
  expect(issuer.calls.length).toBe(2)
})

test("each document, and each key of it, is read in a turn of the control plane's clients", async () => {
  let turns = 0
  const keys = keysOf(() => {
    turns++
    return undefined
  })
  expect((await keys.current()).map(({ id }) => id)).toEqual(["other", "one"])
  expect(turns).toBe(2 + 2)
})

test("what is no key does not count", async () => {
  const bad = { kty: "EC", crv: "P-256", x: "AA", y: "AA" }
  published = [...Array.from({ length: 255 }, () => bad), createPublicKey(privateKey).export({ format: "jwk" })]
  const keys = keysOf()
  expect(await isGood(keys)).toBe(true)
  expect((await keys.current()).length).toBe(1)
})

test("keys that another token has fetched meanwhile are newer", async () => {
  const keys = keysOf()
  const tried = await keys.current()
  expect(await keys.refresh(tried)).toBe(false)
  wait(cooldownMs + 1)
  expect(await keys.refresh(tried)).toBe(true)
  expect(await keys.refresh(tried)).toBe(true)
  expect(await keys.refresh(await keys.current())).toBe(false)
  expect(issuer.calls.length).toBe(4)
})

test("an issuer may not have more keys than a limit", async () => {
  published = Array.from({ length: 257 }, () => ({}))
  await expect(keysOf().current()).rejects.toThrow(`${issuer.url}/keys has more than 256 keys`)
})

test("no token is accepted without keys", async () => {
  isDown = true
  expect(await isGood(keysOf(), "one")).toBe(false)
})
