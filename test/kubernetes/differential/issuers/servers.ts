// A kube-apiserver with a file, and a tenant with a ConfigMap, that name the issuers whose JWTs they accept; and these issuers: one
// server on loopback, which is the issuer of each case under a path of its own.

import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto"
import { readFile, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { SignJWT } from "jose"
import { localNetworks } from "../../../../gateway/backends/networks.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { startTestGateway } from "../../../../gateway/testing/start-gateway.ts"
import { type WebhookCall, type WebhookReply, WebhookServer } from "../../../../gateway/testing/webhook-server.ts"
import { temporaryFolder } from "../../../harness/folders.ts"
import { TestKubernetes } from "../../harness/test-kubernetes.ts"
import { Connection } from "../connection.ts"

/** Timeout for kube-apiserver to have read its file again, and to have asked the issuers in it. */
const reloadMs = 60_000
const configMaps = "/api/v1/namespaces/kube-system/configmaps"
const name = "authentication-configuration"
const audience = "polyplane"

export class IssuerServers implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack
  readonly #kubernetes: Connection
  readonly #polyplane: Connection
  readonly #issuer: WebhookServer
  readonly #key: KeyObject
  readonly #files: { configuration: string; log: string }

  private constructor(
    stack: AsyncDisposableStack,
    parts: { kubernetes: Connection; polyplane: Connection; issuer: WebhookServer; key: KeyObject },
    files: { configuration: string; log: string },
  ) {
    this.#stack = stack
    this.#kubernetes = parts.kubernetes
    this.#polyplane = parts.polyplane
    this.#issuer = parts.issuer
    this.#key = parts.key
    this.#files = files
  }

  /** `more`: answers of the issuers besides their documents and keys. */
  static async start(
    more: (call: WebhookCall, servers: IssuerServers) => Promise<WebhookReply>,
  ): Promise<IssuerServers> {
    await using stack = new AsyncDisposableStack()
    const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
    let servers: IssuerServers | undefined
    const issuer: WebhookServer = stack.use(
      await WebhookServer.start((call): WebhookReply | Promise<WebhookReply> => {
        const { path: asked } = call
        const at = asked.indexOf("/.well-known/openid-configuration")
        if (at >= 0) return { body: { issuer: issuer.url + asked.slice(0, at), jwks_uri: `${issuer.url}/keys` } }
        if (asked === "/keys") return { body: { keys: [publicOf(key)] } }
        return servers === undefined ? { code: 404, body: {} } : more(call, servers)
      }),
    )
    const folder = await temporaryFolder("polyplane-issuers")
    stack.defer(() => rm(folder, { recursive: true }))
    const configuration = path.join(folder, "configuration.json")
    await writeFile(configuration, JSON.stringify(whole([])))
    const apiServerFlags = [`--authentication-config=${configuration}`, "--logging-format=json"]
    const kubernetes = stack.use(await TestKubernetes.start({ apiServerFlags }))
    const gateway = stack.use(await startTestGateway({ superCluster: false, allowedNetworks: localNetworks }))
    const tenant = await gateway.createTenant("issuers", { controllers: false })
    const theirs = new Connection({ name: "kubernetes", url: kubernetes.server, token: kubernetes.token })
    const ours = new Connection({ name: "polyplane", ...tenant })
    stack.use(theirs)
    stack.use(ours)
    const log = path.join(kubernetes.logs, "kube-apiserver.log")
    servers = new IssuerServers(
      stack.move(),
      { kubernetes: theirs, polyplane: ours, issuer, key },
      { configuration, log },
    )
    return servers
  }

  urlOf(issuer: string): string {
    return `${this.#issuer.url}/${issuer}`
  }

  /** Those of the servers' own tokens. */
  async ownIssuers(): Promise<string[]> {
    const documents = [this.#kubernetes, this.#polyplane].map((server) =>
      server.call("GET", "/.well-known/openid-configuration"),
    )
    return (await Promise.all(documents)).map(({ body }) => String((JSON.parse(body.toString()) as Loose)["issuer"]))
  }

  issuer(issuer: string, more: Loose = {}): Loose {
    return {
      url: this.urlOf(issuer),
      certificateAuthority: this.#issuer.certificateAuthority,
      audiences: [audience],
      ...more,
    }
  }

  token(issuer: string, claims: Loose): Promise<string> {
    const payload = { iss: this.urlOf(issuer), aud: audience, exp: 4_000_000_000, ...claims }
    return new SignJWT(payload).setProtectedHeader({ alg: "ES256", kid: keyId }).sign(this.#key)
  }

  /** Both servers accept these issuers from now on. */
  async configure(authenticators: readonly Loose[]): Promise<void> {
    const text = JSON.stringify(whole(authenticators))
    const [{ code, body }] = await Promise.all([
      this.#writeMap(text),
      this.#reload(text, "reloaded authentication config"),
    ])
    if (code !== 201) throw new Error(`the tenant refuses the configuration: ${body.toString()}`)
  }

  /** What either finds wrong with these authenticators. */
  async faults(authenticators: readonly Loose[]): Promise<{ kubernetes: string[]; polyplane: string[] }> {
    const text = JSON.stringify(whole(authenticators))
    const [{ body }, { errCauses = [] }] = await Promise.all([
      this.#writeMap(text),
      this.#reload(text, "failed to validate authentication config"),
    ])
    const { causes = [] } = (JSON.parse(body.toString()) as Loose)["details"] as { causes?: Loose[] }
    return {
      kubernetes: (errCauses as Loose[]).map(({ error }) => String(error)),
      polyplane: causes.map(({ field, message }) => `${field}: ${message}`),
    }
  }

  /** Reviews for these audiences, of which "own" is that of the servers' own tokens. */
  async reviewFor(token: string, audiences: readonly string[]): Promise<{ kubernetes: Loose; polyplane: Loose }> {
    const own = await this.ownIssuers()
    const asked = [this.#kubernetes, this.#polyplane].map(async (server, index) => {
      const issuer = own[index] ?? ""
      const status = await review(server, token, { audiences: audiences.map((one) => (one === "own" ? issuer : one)) })
      return JSON.parse(JSON.stringify(status).replaceAll(issuer, "own")) as Loose
    })
    const [kubernetes = {}, polyplane = {}] = await Promise.all(asked)
    return { kubernetes, polyplane }
  }

  /** The statuses of a TokenReview. kube-apiserver asks the issuer of other tokens' claims after it has refused the first such token. */
  async review(token: string): Promise<{ kubernetes: Loose; polyplane: Loose }> {
    const polyplane = await userIn(this.#polyplane, token)
    let kubernetes = await userIn(this.#kubernetes, token)
    const deadline = Date.now() + reloadMs
    while (String(kubernetes["error"]).includes("verifier not initialized") && Date.now() < deadline) {
      await delay(50)
      kubernetes = await userIn(this.#kubernetes, token)
    }
    return { kubernetes, polyplane }
  }

  async #writeMap(text: string): Promise<{ code: number; body: Buffer }> {
    await this.#polyplane.call("DELETE", `${configMaps}/${name}`)
    const headers = { "content-type": "application/json" }
    const body = JSON.stringify({ metadata: { name }, data: { "config.yaml": text } })
    return this.#polyplane.call("POST", configMaps, { headers, body })
  }

  /** Returns the entry of kube-apiserver's log. It may find the file empty before it is written. */
  async #reload(text: string, message: string): Promise<Loose> {
    const { log, configuration } = this.#files
    const start = (await readFile(log)).length
    await writeFile(configuration, text)
    const deadline = Date.now() + reloadMs
    for (;;) {
      const lines = (await readFile(log)).subarray(start).toString().split("\n")
      const entries = lines.filter((line) => line.includes("authentication config"))
      const found = entries.find((line) => line.includes(`"msg":"${message}"`))
      if (found !== undefined) return JSON.parse(found) as Loose
      if (Date.now() > deadline || entries.some((line) => isOther(line, message)))
        throw new Error(`kube-apiserver has not ${message}: ${entries.join("\n")}`)
      await delay(50)
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}

const keyId = "one"

const isOther = (line: string, message: string): boolean =>
  /reloaded|failed to validate/.test(line) && !line.includes(message)

function publicOf(key: KeyObject): Loose {
  return { ...createPublicKey(key).export({ format: "jwk" }), kid: keyId, alg: "ES256", use: "sig" }
}

function whole(jwt: readonly Loose[]): Loose {
  return { apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthenticationConfiguration", jwt }
}

async function review(server: Connection, token: string, more: Loose = {}): Promise<Loose> {
  const headers = { "content-type": "application/json" }
  const body = JSON.stringify({ spec: { token, ...more } })
  const answer = await server.call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { headers, body })
  return (JSON.parse(answer.body.toString()) as Loose)["status"] as Loose
}

async function userIn(server: Connection, token: string): Promise<Loose> {
  const { audiences: _, ...status } = await review(server, token)
  return status
}
