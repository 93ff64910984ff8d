// A real gateway for tests: TLS, port 0, a temporary data directory that is removed at the end.

import { randomUUID } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { request as httpsRequest } from "node:https"
import type { IncomingHttpHeaders } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "yaml"
import type { ConfigMap, Service } from "../../apimachinery/object.ts"
import { createHttpClient } from "../../client/http/client.ts"
import { silentLog } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"
import { Gateway } from "../main.ts"
import type { GatewayOptions } from "../options.ts"
import type { ServiceAddresses } from "../control-plane/service-addresses.ts"

export interface Credential {
  certificate?: string
  key?: string
  token?: string
}

export interface RawRequest extends Credential {
  method?: string
  headers?: Record<string, string | string[]>
  body?: unknown
  /** TLS server name. */
  serverName?: string
}

export interface RawAnswer {
  code: number
  headers: IncomingHttpHeaders
  text: string
  bytes: Buffer
  json: () => unknown
}

export class TestGateway implements AsyncDisposable {
  readonly gateway: Gateway
  readonly dataDir: string
  readonly #stack: AsyncDisposableStack

  constructor(gateway: Gateway, dataDir: string, stack: AsyncDisposableStack) {
    this.gateway = gateway
    this.dataDir = dataDir
    this.#stack = stack
  }

  get url(): string {
    return this.gateway.url
  }

  /** Creates a tenant and returns the credential in its kubeconfig. */
  async createTenant(name: string, more: Partial<Tenant> = {}): Promise<TestTenant> {
    const tenant = await this.gateway.tenants.create({
      name,
      virtualCluster: { namespace: "default", name, uid: randomUUID() },
      clusterKey: `default-${name}`,
      clusterDomain: "cluster.local",
      transparentMetaPrefixes: [],
      opaqueMetaPrefixes: [],
      controllers: true,
      ...more,
    })
    const kubeconfig = await this.gateway.tenants.kubeconfig(name)
    return { tenant, kubeconfig, ...credentialOf(kubeconfig), url: `${this.url}/tenants/${name}` }
  }

  /** The credential of the gateway's administrator. */
  get administrator(): Credential {
    return this.gateway.administrator
  }

  /** A client over HTTP; `path` "" is the super cluster. Closed with the gateway. */
  client(path: string, credential: Credential): KubeClient {
    return this.#stack.use(
      createHttpClient({
        server: this.url + path,
        certificateAuthority: this.gateway.certificateAuthority,
        ...credential,
      }),
    )
  }

  /** Sends one request on a new connection. */
  request(path: string, options: RawRequest = {}): Promise<RawAnswer> {
    const { method = "GET", headers = {}, body, certificate, key, token, serverName } = options
    const isRaw = typeof body === "string" || Buffer.isBuffer(body)
    const text = body === undefined ? undefined : isRaw ? body : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(this.url)
      const request = httpsRequest(
        {
          hostname,
          port,
          path,
          method,
          agent: false,
          ca: this.gateway.certificateAuthority,
          checkServerIdentity: () => undefined,
          ...(certificate === undefined ? {} : { cert: certificate }),
          ...(key === undefined ? {} : { key }),
          ...(serverName === undefined ? {} : { servername: serverName }),
          headers: {
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...(text === undefined
              ? {}
              : { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on("data", (chunk: Buffer) => chunks.push(chunk))
          response.on("error", reject)
          response.on("end", () => {
            const bytes = Buffer.concat(chunks)
            const answer = bytes.toString()
            const json = (): unknown => JSON.parse(answer)
            resolve({ code: response.statusCode ?? 0, headers: response.headers, text: answer, bytes, json })
          })
        },
      )
      request.on("error", reject)
      request.end(text)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}

export interface TestTenant extends Credential {
  tenant: Tenant
  kubeconfig: string
  url: string
}

/** With a super cluster at /, without log output, and with a separate range of Service addresses per tenant. */
export async function startTestGateway(options: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  await using stack = new AsyncDisposableStack()
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "polyplane-gateway-")))
  if (options.dataDir === undefined) stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  const gateway = stack.use(
    await Gateway.start({
      superCluster: true,
      log: silentLog,
      serviceAddresses: () => countingAddresses(),
      ...options,
      dataDir,
    }),
  )
  return new TestGateway(gateway, dataDir, stack.move())
}

/** In the namespace "default". */
export const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name },
  data,
})

/** Allocates 10.96.0.1 and up. */
export function countingAddresses(): ServiceAddresses {
  let last = 0
  const give = ({ spec }: Service): void => {
    if (spec === undefined || spec.type === "ExternalName" || spec.clusterIP) return
    last++
    spec.clusterIP = `10.96.${last >> 8}.${last & 255}`
    spec.clusterIPs = [spec.clusterIP]
    spec.ipFamilies = ["IPv4"]
    spec.ipFamilyPolicy = "SingleStack"
  }
  return {
    claim(service) {
      give(service)
      return Promise.resolve({ commit: () => undefined, rollback: () => Promise.resolve() })
    },
    preview: (service) => Promise.resolve(give(service)),
    release: () => Promise.resolve(),
  }
}

function credentialOf(kubeconfig: string): { certificate: string; key: string } {
  const config = parse(kubeconfig) as {
    users: { user: { "client-certificate-data": string; "client-key-data": string } }[]
  }
  const user = config.users[0]?.user
  const decode = (text = ""): string => Buffer.from(text, "base64").toString()
  return { certificate: decode(user?.["client-certificate-data"]), key: decode(user?.["client-key-data"]) }
}
