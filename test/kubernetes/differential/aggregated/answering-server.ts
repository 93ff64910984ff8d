// A server of an aggregated API that answers in every way an untrusted one may. What it is asked for is the part of the path after
// the group version; both servers call the same one.

import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import type { Duplex } from "node:stream"
import { createAuthority, issueServingCertificate } from "../../../../gateway/pki/pki.ts"

type Answering = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

const page =
  '<html><head><link href="/style.css"></head><body><a href="/apis/x">a</a><a href="b?c=d&amp;e">b</a>' +
  '<a href="https://elsewhere.example.com/">c</a><img src=/i.png></body></html>'
const html = { "content-type": "text/html; charset=utf-8" }
const json = { "content-type": "application/json" }

/** Go asks for compression by itself, and decompresses. */
const ofConnections: ReadonlySet<string> = new Set(["audit-id", "user-agent", "connection", "accept-encoding", "te"])

/** What it was sent, without what a connection and its client add by themselves. */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url, headers } = request
  const told = Object.entries(headers).filter(([name]) => !ofConnections.has(name))
  const body = (await buffer(request)).toString()
  const own = `localhost:${request.socket.localPort}`
  const text = JSON.stringify({ method, url, headers: Object.fromEntries(told), body })
  response.writeHead(200, json).end(text.replaceAll(`"${own}"`, '"(the server)"'))
}

const sends =
  (code: number, headers: Record<string, string | string[]>, body: string | Buffer = ""): Answering =>
  (_, response) =>
    void response.writeHead(code, headers).end(body)

const answers: Readonly<Record<string, Answering>> = {
  echo,
  nothing: sends(204, {}),
  untyped: sends(200, {}, "words"),
  "untyped-html": sends(200, {}, page),
  known: sends(304, { etag: '"a"', "cache-control": "public" }),
  redirected: sends(302, { location: "/elsewhere" }, "moved"),
  "permanently-redirected": sends(308, { location: "https://elsewhere.example.com/x", ...html }, page),
  "redirected-nowhere": sends(302, json, "{}"),
  "created-relative": sends(201, { location: "a/b?c=d", ...json }, "{}"),
  "created-elsewhere": sends(201, { location: "https://elsewhere.example.com/a", ...json }, "{}"),
  unauthorized: sends(401, { "www-authenticate": 'Basic realm="x"', ...json }, "{}"),
  throttled: sends(429, { "retry-after": "7", ...json }, "{}"),
  failed: sends(500, { "content-type": "text/plain" }, "failed"),
  teapot: sends(418, { "content-type": "text/plain" }, "no coffee"),
  warning: sends(200, { warning: ['299 - "a"', '299 - "b"'], deprecation: "true", ...json }, "{}"),
  caching: sends(200, { "cache-control": "max-age=60", vary: "X", etag: '"a"', expires: "never", ...json }, "{}"),
  foreign: sends(
    200,
    {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET",
      "access-control-expose-headers": "x",
      "audit-id": "theirs",
      "x-kubernetes-pf-flowschema-uid": "theirs",
      "keep-alive": "timeout=1",
      "proxy-authenticate": "Basic",
      "proxy-connection": "x",
      trailer: "x-end",
      ...json,
    },
    "{}",
  ),
  trailing: (_, response) => {
    response.writeHead(200, { trailer: "X-Sum, X-None", ...json }).write("{}")
    response.addTrailers({ "X-Sum": "a" })
    response.end()
  },
  "trailing-unannounced": (_, response) => {
    response.writeHead(200, json).write("{}")
    response.addTrailers({ "X-Sum": "a" })
    response.end()
  },
  closed: (request) => void request.socket.destroy(),
  "not-http": ({ socket }) => void socket.end("SSH-2.0-OpenSSH\r\n\r\n"),
  "odd-code": ({ socket }) => void socket.end("HTTP/1.1 99 Odd\r\ncontent-length: 0\r\n\r\n"),
  pieces: (_, response) => {
    response.writeHead(200, { "content-type": "application/json;stream=watch" })
    response.write('{"a":1}\n')
    setTimeout(() => response.end('{"a":2}\n'), 50)
  },
}

const upgrades: Readonly<Record<string, string>> = {
  switched: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: words\r\nX-Own: a\r\n\r\nhello",
  accepted: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok",
  redirected: "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n",
  refused: "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nX-Own: a\r\nContent-Length: 2\r\n\r\nno",
  wrong: "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
  failed: "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nlate",
  closed: "",
  odd: "SSH-2.0-OpenSSH\r\n\r\n",
}

export class AnsweringServer implements AsyncDisposable {
  readonly #server: Server
  /** PEM. */
  readonly certificateAuthority: string

  private constructor(server: Server, certificateAuthority: string) {
    this.#server = server
    this.certificateAuthority = certificateAuthority
  }

  /** `names`: those in its certificate. */
  static async start(): Promise<AnsweringServer> {
    const authority = await createAuthority("answering")
    const { certificate, key } = await issueServingCertificate(authority, ["localhost"])
    const server = createServer({ cert: certificate, key })
    server.on("request", (request, response) => void answer(request, response))
    server.on("upgrade", (request: IncomingMessage, socket: Duplex) => {
      socket.on("error", () => undefined)
      socket.end(upgrades[wantedBy(request)] ?? "")
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return new AnsweringServer(server, authority.certificate)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, "close")
  }
}

/** The rest of the path after the group version. */
function wantedBy({ url = "" }: IncomingMessage): string {
  const [path = ""] = url.split("?", 1)
  return path.split("/").slice(4).join("/")
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, group, version] = /^\/apis\/([^/?]+)\/([^/?]+)$/.exec(request.url ?? "") ?? []
  if (version !== undefined) {
    const things = { name: "things", singularName: "thing", namespaced: true, kind: "Thing", verbs: ["get"] }
    const list = { kind: "APIResourceList", apiVersion: "v1", groupVersion: `${group}/${version}`, resources: [things] }
    // It answers in time to those who look whether it is there.
    const isLate = version === lateVersion && request.headers["x-remote-user"] !== "system:kube-aggregator"
    if (!isLate) response.writeHead(200, json).end(JSON.stringify(list))
    return
  }
  const { [wantedBy(request).replace(/\/.*/, "")]: found } = answers
  if (found === undefined) response.writeHead(404).end()
  else await found(request, response)
}

export const lateVersion = "v1late"
export const ways = Object.keys(answers)
export const waysOfUpgrades = Object.keys(upgrades)
