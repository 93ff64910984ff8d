// What upstream's scripts take for granted of their server, before one that has it otherwise: it is https://127.0.0.1:<port>
// without a path, the token `admin-token` is an administrator's, certificates of its clients' authority say who they are,
// and nobody is let in without a credential. All else is passed on as it comes, both ways.

import { X509Certificate } from "node:crypto"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Agent, createServer, request as httpsRequest, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { pipeline, type Duplex } from "node:stream"
import { connect, type TLSSocket } from "node:tls"
import { join } from "../../../client/http/join.ts"
import { createAuthority, issueServingCertificate } from "../../../gateway/pki/pki.ts"
import type { Credential } from "../../harness/https.ts"

export interface Fronted {
  /** https://host:port, perhaps with a path. */
  url: string
  /** PEM. */
  certificateAuthority: string
  administrator: Credential
  /** PEM: who signs certificates of its clients. */
  clientAuthority: string
}

type Headers = Record<string, string | string[]>

/** As in upstream's hack/testdata/auth-tokens.csv. */
const administratorToken = "Bearer admin-token"
/** Nobody's: the server refuses it, as it would refuse strangers with --anonymous-auth=false. */
const noToken = "Bearer nobody"

export class Front implements AsyncDisposable {
  readonly #fronted: Fronted
  readonly #url: URL
  readonly #agents: { administrator: Agent; others: Agent }
  readonly #server: Server
  readonly #upgraded = new Set<Duplex>()

  private constructor(fronted: Fronted, tls: { cert: string; key: string; ca: string[] }) {
    const { certificateAuthority: ca, administrator } = fronted
    const { certificate: cert, key } = administrator
    this.#fronted = fronted
    this.#url = new URL(fronted.url)
    this.#agents = {
      administrator: new Agent({ ca, keepAlive: true, ...(cert === undefined ? {} : { cert, key }) }),
      others: new Agent({ ca, keepAlive: true }),
    }
    this.#server = createServer({ ...tls, requestCert: true, rejectUnauthorized: false })
    this.#server.on("request", (request, response) => this.#pass(request, response))
    this.#server.on("upgrade", (request, socket, head) => this.#join(request, socket, head))
  }

  /** `announced`: further authorities (PEM) that clients are told certificates may be of. */
  static async start(fronted: Fronted, announced: readonly string[]): Promise<Front> {
    const { certificate, key } = await issueServingCertificate(await createAuthority("test-cmd"), [
      "127.0.0.1",
      "localhost",
    ])
    const front = new Front(fronted, { cert: certificate, key, ca: [fronted.clientAuthority, ...announced] })
    front.#server.listen(0, "127.0.0.1")
    await once(front.#server, "listening")
    return front
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const { isAdministrator, headers } = this.#identify(request)
    const agent = isAdministrator ? this.#agents.administrator : this.#agents.others
    const { hostname, port } = this.#url
    const { method } = request
    const onward = httpsRequest({ hostname, port, path: this.#path(request), method, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      response.flushHeaders()
      pipeline(answer, response, () => undefined) // a client of an incomplete response sees the connection end
    })
    onward.on("error", () => response.destroy())
    response.on("close", () => onward.destroy())
    request.pipe(onward)
  }

  /** The answer, whatever it is, ends the connection's being HTTP: everything after the head goes through as it is. */
  #join(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { isAdministrator, headers } = this.#identify(request)
    const { certificateAuthority: ca, administrator } = this.#fronted
    const { certificate: cert, key } = administrator
    const { hostname: host, port } = this.#url
    const client = isAdministrator && cert !== undefined ? { cert, key } : {}
    const far = connect({ host, port: Number(port), ca, ...client })
    const lines = Object.entries(headers).flatMap(([name, values]) =>
      [values].flat().map((value) => `${name}: ${value}\r\n`),
    )
    far.write(`${request.method} ${this.#path(request)} HTTP/1.1\r\n${lines.join("")}\r\n`)
    far.write(head)
    this.#upgraded.add(socket)
    socket.on("close", () => this.#upgraded.delete(socket))
    join(socket, far)
  }

  #path({ url = "/" }: IncomingMessage): string {
    return `${this.#url.pathname.replace(/\/$/, "")}${url}`
  }

  #identify({ headersDistinct, socket }: IncomingMessage): { isAdministrator: boolean; headers: Headers } {
    const { authorization: [authorization] = [], ...others } = headersDistinct
    const rest = { ...(others as Headers), host: this.#url.host }
    const { token } = this.#fronted.administrator
    const asAdministrator: Headers = token === undefined ? {} : { authorization: [`Bearer ${token}`] }
    if (authorization === administratorToken) return { isAdministrator: true, headers: { ...rest, ...asAdministrator } }
    const subject = (socket as TLSSocket).getPeerX509Certificate()
    if (authorization === undefined && subject !== undefined && this.#isClients(subject)) {
      return { isAdministrator: true, headers: { ...rest, ...asAdministrator, ...impersonate(subject) } }
    }
    const own = authorization?.startsWith("Bearer ") === true ? authorization : noToken
    return { isAdministrator: false, headers: { ...rest, authorization: [own] } }
  }

  #isClients(certificate: X509Certificate): boolean {
    return certificate.verify(new X509Certificate(this.#fronted.clientAuthority).publicKey)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#server.close(() => resolve())
    this.#server.closeAllConnections()
    for (const socket of this.#upgraded) socket.destroy()
    for (const agent of Object.values(this.#agents)) agent.destroy()
    await promise
  }
}

function impersonate({ subject }: X509Certificate): Headers {
  const named = (name: string) =>
    subject.split("\n").flatMap((line) => (line.startsWith(`${name}=`) ? [line.slice(name.length + 1)] : []))
  return { "impersonate-user": named("CN"), "impersonate-group": named("O") }
}
