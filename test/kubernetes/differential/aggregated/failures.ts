// Servers of aggregated APIs that cannot be reached, or do not answer as they should: what the conditions of their APIServices say, and
// what clients are told.

import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { type AddressInfo, createServer, type Server } from "node:net"
import { createAuthority, issueServingCertificate } from "../../../../gateway/pki/pki.ts"
import type { JsonObject } from "../generate/objects.ts"
import { get, remove, type RequestStep } from "../scenario.ts"
import { apiServices, group, leading, registered, unregistered, until } from "./registered.ts"

/** Version → what the server of its port does. */
export class FailingServers implements AsyncDisposable {
  readonly #servers: Server[] = []
  readonly #steps: RequestStep[] = []

  static async start(): Promise<FailingServers> {
    const failing = new FailingServers()
    await failing.#start()
    return failing
  }

  async #start(): Promise<void> {
    const [own, others] = await Promise.all([createAuthority("own"), createAuthority("others")])
    const bundle = (pem: string): JsonObject => ({
      insecureSkipTLSVerify: false,
      caBundle: Buffer.from(pem).toString("base64"),
    })
    const names = ["failing.default.svc"]
    const secure = async (version: string, answer: Answer, of = names, more: JsonObject = {}): Promise<void> => {
      const { certificate, key } = await issueServingCertificate(own, of)
      await this.#add(version, createSecureServer({ cert: certificate, key }, answer), more)
    }
    const code =
      (number: number, headers = {}): Answer =>
      (_, response) =>
        void response.writeHead(number, headers).end()
    await this.#add("v1closed", undefined)
    await this.#add(
      "v1plain",
      createServer((socket) => void socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))),
    )
    await this.#add(
      "v1silent",
      createServer((socket) => void socket.once("data", () => socket.end())),
    )
    for (const number of [401, 403, 404, 500, 503]) await secure(`v1code${number}`, code(number))
    await secure("v1moved", code(302, { location: "/x" }))
    await secure("v1unchanged", code(304))
    await secure("v1none", code(204))
    await secure("v1hangup", ({ socket }) => void socket.destroy())
    await secure("v1odd", ({ socket }) => void socket.end("SSH-2.0-OpenSSH\r\n\r\n"))
    await secure("v1oddcode", ({ socket }) => void socket.end("HTTP/1.1 99 Odd\r\n\r\n"))
    await secure("v1oddversion", ({ socket }) => void socket.end("HTTQ/1.1 200 Odd\r\n\r\n"))
    await secure("v1oddheader", ({ socket }) => void socket.end("HTTP/1.1 200 OK\r\nno header\r\n\r\n"))
    await secure("v1stranger", code(200), names, bundle(others.certificate))
    await secure("v1wrongname", code(200), ["a.example.com", "b.example.com"], bundle(own.certificate))
    await secure("v1nobundle", code(200), names, { insecureSkipTLSVerify: false })
    await secure("v1notbundle", code(200), names, bundle("no certificate"))
    await secure(
      "v1words",
      (_, response) => void response.writeHead(200, { "content-type": "text/plain" }).end("words"),
    )
    await secure("v1late", () => undefined)
  }

  async #add(version: string, server: Server | undefined, more: JsonObject = {}): Promise<void> {
    const open = server ?? createServer()
    open.on("clientError", () => undefined)
    open.on("connection", (socket) => socket.on("error", () => undefined))
    open.listen(0, "127.0.0.1")
    await once(open, "listening")
    const { port } = open.address() as AddressInfo
    if (server === undefined) {
      open.close()
      await once(open, "close")
    } else this.#servers.push(open)
    this.#steps.push(registered(version, port, { service: { namespace: "default", name: "failing", port }, ...more }))
  }

  steps(): RequestStep[] {
    const versions = this.#steps.map(({ label = "" }) => label.replace("WRITE ", ""))
    return [
      leading("failing", "default"),
      ...this.#steps,
      // The first condition may be that there is no Service, if the server hears of it later than of its APIs.
      ...versions
        .filter((version) => version !== "v1notbundle")
        .map((version) => until(version, "FailedDiscoveryCheck", '"Passed"')),
      get(`${apiServices}/v1notbundle.${group}`),
      ...versions.flatMap((version) => [get(`/apis/${group}/${version}`), get(`/apis/${group}/${version}/things`)]),
      ...versions.map(unregistered),
      remove("/api/v1/namespaces/default/services/failing"),
    ]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.close()
      if ("closeAllConnections" in server) (server as { closeAllConnections: () => void }).closeAllConnections()
    }
  }
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void
