import { createPublicKey, generateKeyPairSync } from "node:crypto"
import { SignJWT } from "jose"
import { expect, onTestFinished, test, vi } from "vitest"
import { silentLog } from "../../../client/log.ts"
import { Backends } from "../../backends/backends.ts"
import { localNetworks, NetworkRules } from "../../backends/networks.ts"
import { ServerHandshakes } from "../../backends/server-handshakes.ts"
import type { Loose } from "../../testing/kinds.ts"
import { WebhookServer } from "../../testing/webhook-server.ts"
import { createOIDCAuthenticator } from "./authenticator.ts"
import { configurationField, configurationName } from "./configuration.ts"

const issuer = "https://issuer.example"
const ownIssuer = "https://own.example"
const aside = <T>(job: () => Promise<T>): Promise<T> => job()
const nobody = (): Promise<never> => Promise.reject(new Error("URLs need no objects"))

class SilentNetwork extends NetworkRules {
  override resolve(): Promise<string> {
    return new Promise(() => undefined)
  }
}

function backendsIn(networks: NetworkRules): Backends {
  const backends = new Backends({
    reader: { get: nobody, list: nobody },
    nodes: { dial: nobody },
    networks,
    handshakes: new ServerHandshakes(),
  })
  onTestFinished(() => backends[Symbol.dispose]())
  return backends
}

function storedConfiguration(jwt: Loose): Loose {
  const configuration = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [jwt],
  }
  return { metadata: { name: configurationName }, data: { [configurationField]: JSON.stringify(configuration) } }
}

test("only so many tokens wait for an issuer", async () => {
  const backends = backendsIn(new SilentNetwork())
  const stored = storedConfiguration({
    issuer: { url: issuer, audiences: ["a"] },
    claimMappings: { username: { claim: "sub", prefix: "" } },
  })
  const view = { current: () => Promise.resolve([stored]) } as never
  const pause = (): undefined => undefined
  const parts = { view, backends, apiAudiences: ["a"], ownIssuer, pause, aside, log: silentLog }
  const authenticator = createOIDCAuthenticator(parts)
  const bearerToken = await new SignJWT({})
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(issuer)
    .sign(Buffer.alloc(32))
  const ask = async (): Promise<unknown> => authenticator.authenticate({ certificates: [], bearerToken })
  for (let count = 0; count < 200; count++) void ask().catch(() => undefined)
  await expect(ask()).rejects.toMatchObject({ code: 429 })
})

test("no token is valid after a configuration that could not be read", async () => {
  const readable = storedConfiguration({
    issuer: { url: issuer, audiences: ["a"] },
    claimMappings: { username: { claim: "sub", prefix: "" } },
  })
  const unreadable = {
    metadata: { name: configurationName },
    get data(): never {
      throw new Error("is not readable")
    },
  }
  let objects: readonly unknown[] = [readable]
  const view = { current: () => Promise.resolve(objects) } as never
  const pause = (): undefined => undefined
  const backends = backendsIn(new SilentNetwork())
  const parts = { view, backends, apiAudiences: ["a"], ownIssuer, pause, aside, log: silentLog }
  const authenticator = createOIDCAuthenticator(parts)
  const signing = new SignJWT({}).setProtectedHeader({ alg: "HS256" }).setIssuer(issuer)
  const bearerToken = await signing.sign(Buffer.from("a secret of thirty-two characters"))
  const ask = async () => authenticator.authenticate({ certificates: [], bearerToken })
  await expect(ask()).rejects.toMatchObject({ code: 401 })
  objects = [unreadable]
  await expect(ask()).rejects.toThrow("is not readable")
  expect(await ask()).toBeUndefined()
})

test("a configuration is compiled, keys are read, and each expression is evaluated, in a turn of the control plane's clients", async () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const keys = [createPublicKey(privateKey).export({ format: "jwk" })]
  const server: WebhookServer = await WebhookServer.start(({ path }) => ({
    body: path === "/keys" ? { keys } : { issuer: server.url, jwks_uri: `${server.url}/keys` },
  }))
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { url, certificateAuthority } = server
  const objects = [
    storedConfiguration({
      issuer: { url, certificateAuthority, audiences: ["a"] },
      claimMappings: { username: { expression: "claims.sub" } },
      claimValidationRules: [{ expression: "claims.sub != ''", message: "m" }],
      userValidationRules: [{ expression: "user.username != ''", message: "m" }],
    }),
  ]
  const view = { current: () => Promise.resolve(objects) } as never
  const turns: (() => void)[] = []
  const pause = (): Promise<void> => new Promise((resolve) => void turns.push(resolve))
  const backends = backendsIn(new NetworkRules(localNetworks))
  const parts = { view, backends, apiAudiences: ["a"], ownIssuer, pause, aside, log: silentLog }
  const authenticator = createOIDCAuthenticator(parts)
  const signing = new SignJWT({ sub: "ann", aud: "a", exp: 4e9 }).setProtectedHeader({ alg: "ES256" }).setIssuer(url)
  const bearerToken = await signing.sign(privateKey)
  const found = authenticator.authenticate({ certificates: [], bearerToken })
  // The configuration, two documents, a key and three expressions.
  for (let count = 1; count <= 7; count++) {
    await vi.waitFor(() => expect(turns.length).toBe(count), { timeout: 60_000 })
    turns[count - 1]?.()
  }
  expect(await found).toMatchObject({ user: { name: "ann" } })
  expect(authenticator.keyBytes).toBeGreaterThan(4096)
})
