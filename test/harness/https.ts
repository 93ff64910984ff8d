// Sends one HTTPS request with any path, Host header, TLS server name and credential, and returns the complete response.

import { request, type RequestOptions } from "node:https"
import { connect } from "node:tls"
import { parse } from "yaml"

export interface Credential {
  certificate?: string
  key?: string
  token?: string
}

export interface Call extends Credential {
  method?: string
  path: string
  body?: string | Uint8Array
  headers?: Record<string, string>
  /** TLS server name. */
  serverName?: string
}

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

const timeoutMs = 60_000

/** The server's certificate is not verified here; kubectl does that. */
export function call(url: string, options: Call): Promise<Answer> {
  const { certificate, key, token, method = "GET", path, body, headers = {}, serverName } = options
  const { hostname, port } = new URL(url)
  const details: RequestOptions = {
    host: hostname,
    port,
    method,
    path,
    rejectUnauthorized: false,
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(certificate === undefined ? {} : { cert: certificate }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  }
  return new Promise((resolve, reject) => {
    const sent = request(details, (response) => {
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString("utf8"),
        }),
      )
    })
    sent.on("upgrade", (response, socket) => {
      socket.destroy()
      resolve({ status: response.statusCode ?? 101, headers: response.headers, text: "" })
    })
    sent.on("error", reject)
    sent.end(body)
  })
}

/**
 * Sends the same request on a separate connection and returns all bytes of the response until the server closes it. The body may
 * be shorter than its Content-Length.
 */
export async function exchange(url: string, options: Call): Promise<string> {
  const { certificate: cert, key, token, method = "GET", path, body = "", headers = {}, serverName } = options
  const { hostname, port, host } = new URL(url)
  const socket = connect({
    host: hostname,
    port: Number(port),
    rejectUnauthorized: false,
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  })
  const sent = {
    host,
    connection: "close",
    ...(body === "" ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...headers,
  }
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`)
  let text = ""
  let failure: Error | undefined
  socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk))
  socket.on("error", (error) => (failure = error))
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no end of the answer in ${timeoutMs} ms`)))
  socket.write(Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`), Buffer.from(body)]))
  await new Promise((resolve) => socket.once("close", resolve))
  // A server that closes the connection before it has received the whole request may cause a reset after its response.
  if (text === "") throw failure ?? new Error(`no answer to ${method} ${path}`)
  return text
}

/** The certificate and key in a kubeconfig. */
export function certificateOf(kubeconfig: string): Required<Pick<Credential, "certificate" | "key">> {
  const { users } = parse(kubeconfig) as { users: { user: Record<string, string> }[] }
  const user = users[0]?.user ?? {}
  const decode = (name: string) => Buffer.from(user[name] ?? "", "base64").toString("utf8")
  return { certificate: decode("client-certificate-data"), key: decode("client-key-data") }
}
