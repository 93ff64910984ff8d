import { SignJWT } from "jose"
import { expect, onTestFinished, test } from "vitest"
import { silentLog } from "../../../client/log.ts"
import { Backends } from "../../backends/backends.ts"
import { NetworkRules } from "../../backends/networks.ts"
import { createOIDCAuthenticator } from "./authenticator.ts"
import { configurationField, configurationName } from "./configuration.ts"

const issuer = "https://issuer.example"

class SilentNetwork extends NetworkRules {
  override resolve(): Promise<string> {
    return new Promise(() => undefined)
  }
}

test("only so many tokens wait for an issuer", async () => {
  const nobody = (): Promise<never> => Promise.reject(new Error("URLs need no objects"))
  const reader = { get: nobody, list: nobody }
  const backends = new Backends({ reader, nodes: { dial: nobody }, networks: new SilentNetwork() })
  onTestFinished(() => backends[Symbol.dispose]())
  const configuration = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [{ issuer: { url: issuer, audiences: ["a"] }, claimMappings: { username: { claim: "sub", prefix: "" } } }],
  }
  const stored = {
    metadata: { name: configurationName },
    data: { [configurationField]: JSON.stringify(configuration) },
  }
  const view = { current: () => Promise.resolve([stored]) } as never
  const ownIssuer = "https://own.example"
  const authenticator = createOIDCAuthenticator({ view, backends, apiAudiences: ["a"], ownIssuer, log: silentLog })
  const bearerToken = await new SignJWT({})
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(issuer)
    .sign(Buffer.alloc(32))
  const ask = async (): Promise<unknown> => authenticator.authenticate({ certificates: [], bearerToken })
  for (let count = 0; count < 200; count++) void ask().catch(() => undefined)
  await expect(ask()).rejects.toMatchObject({ code: 429 })
})
