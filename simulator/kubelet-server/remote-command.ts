// /exec and /attach: channels over WebSocket (v4 and v5.channel.k8s.io) or streams over SPDY (v4). Source:
// k8s.io/apimachinery/pkg/util/remotecommand.

import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocket, WebSocketServer } from "ws"
import type { ExecStreams, SimulatedContainer } from "../container/container.ts"
import { Input } from "../container/input.ts"
import { CallRefused } from "../../client/http/node-server.ts"
import type { KubeletRequest } from "./request.ts"
import { acceptSpdy, isSpdy, type SpdyStream } from "./spdy.ts"

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const
const webSocketProtocols = ["v5.channel.k8s.io", "v4.channel.k8s.io"]
const spdyProtocols = ["v4.channel.k8s.io"]
/**
 * No container runtime starts a program sooner. Clients before kubectl 1.35 read from the connection while they still create
 * their streams, and discard data for streams they have not created yet.
 */
const programStartMs = 25
/** Per message of the client. */
const maxMessageBytes = 1024 * 1024
/** Maximum size of unread output: a simulated program does not wait for the client. Beyond that the connection is cut off. */
const maxUnreadBytes = 16 * 1024 * 1024

/** The client's side of a command, for any protocol. */
interface Client {
  stdout(text: string): void
  stderr(text: string): void
  /** Sends the outcome, a Status, on the error channel and ends the connection. */
  finish(status: string): void
}

export function acceptRemoteCommand(
  found: KubeletRequest,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const container = running(found)
  const input = ["1", "true"].includes(found.query.get("input") ?? "") ? new Input() : Input.empty()
  const left = new AbortController()
  socket.on("close", () => left.abort())
  const start = (client: Client): void => {
    const work =
      found.action === "exec"
        ? container.exec(found.query.getAll("command"), streams(found.query, input, client), left.signal)
        : // Like a kubelet, without the exit code of the program: kubectl would take another than 0 for a failure to attach.
          container.attach(streams(found.query, input, client), left.signal).then(() => 0)
    work.then(
      (code) => client.finish(outcome(code)),
      (error: unknown) => client.finish(failure(String(error))),
    )
  }
  if (isSpdy(request)) overSpdy(found, request, socket, head, input, start)
  else if (request.headers.upgrade?.toLowerCase() === "websocket") overWebSocket(request, socket, head, input, start)
  else throw new CallRefused(400, `unable to upgrade to ${request.headers.upgrade ?? ""}`)
}

function running({ sandbox, container }: KubeletRequest): SimulatedContainer {
  const current = sandbox.find(container)?.current
  if (current === undefined || current.exit !== undefined) {
    throw new CallRefused(500, `container ${container} is not running in pod ${sandbox.pod.metadata.name ?? ""}`)
  }
  return current
}

function streams(query: URLSearchParams, input: Input, client: Client): ExecStreams {
  return {
    input,
    terminal: ["1", "true"].includes(query.get("tty") ?? ""),
    stdout: (text) => client.stdout(text),
    stderr: (text) => client.stderr(text),
  }
}

function outcome(code: number): string {
  if (code === 0) return JSON.stringify({ metadata: {}, status: "Success" })
  return JSON.stringify({
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(code) }] },
  })
}

const failure = (message: string): string =>
  JSON.stringify({ metadata: {}, status: "Failure", message, reason: "InternalError", code: 500 })

function overWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  input: Input,
  start: (client: Client) => void,
): void {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    handleProtocols: (offered) => webSocketProtocols.find((name) => offered.has(name)) ?? false,
  })
  server.handleUpgrade(request, socket, head, (connection) => {
    const send = (channel: number, data: string): void => {
      if (connection.readyState !== WebSocket.OPEN) return
      if (connection.bufferedAmount > maxUnreadBytes) connection.terminate()
      else connection.send(Buffer.concat([Buffer.of(channel), Buffer.from(data)]))
    }
    connection.on("message", (message: Buffer) => {
      const [channel, ...rest] = [message[0], message[1]]
      if (channel === channels.stdin && message.length > 1 && !input.push(message.subarray(1)))
        connection.close(1009, "too much input")
      else if (channel === channels.close && rest[0] === channels.stdin) input.close()
    })
    connection.on("error", () => connection.terminate()) // a broken client cannot be notified
    const client: Client = {
      stdout: (text) => send(channels.stdout, text),
      stderr: (text) => send(channels.stderr, text),
      finish(status) {
        send(channels.error, status)
        connection.close(1000)
      },
    }
    const starting = setTimeout(() => start(client), programStartMs)
    connection.on("close", () => {
      clearTimeout(starting)
      input.close()
    })
  })
}

/** Resolves when everything has been sent, or the stream is broken. */
function ended(stream: SpdyStream, last: string | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (last !== undefined) stream.write(last)
    stream.end(() => resolve())
  })
}

/** The client opens one stream per requested channel; the command starts when all are open. */
function overSpdy(
  found: KubeletRequest,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  input: Input,
  start: (client: Client) => void,
): void {
  const asked = (name: string): boolean => ["1", "true"].includes(found.query.get(name) ?? "")
  const wanted = new Set([
    "error",
    ...(asked("input") ? ["stdin"] : []),
    ...(asked("output") ? ["stdout"] : []),
    ...(asked("error") && !asked("tty") ? ["stderr"] : []),
  ])
  const streams = new Map<string, SpdyStream>()
  const connection = acceptSpdy(request, socket, head, spdyProtocols, (stream) => {
    const type = stream.headers["streamtype"] ?? ""
    streams.set(type, stream)
    if (type === "stdin") {
      stream.on("data", (chunk: Buffer) => {
        if (!input.push(chunk)) socket.destroy()
      })
      stream.on("end", () => input.close())
    } else stream.resume()
    wanted.delete(type)
    if (wanted.size > 0 || !streams.has("error")) return
    wanted.add("started")
    const send = (type: string, text: string): void => {
      const stream = streams.get(type)
      if (stream === undefined) return
      if (stream.writableLength > maxUnreadBytes) socket.destroy()
      else stream.write(text)
    }
    start({
      stdout: (text) => send("stdout", text),
      stderr: (text) => send("stderr", text),
      finish(status) {
        const sent = [...streams]
          .filter(([name]) => name !== "stdin" && name !== "resize")
          .map(([name, one]) => ended(one, name === "error" ? status : undefined))
        // The client reads the status, then closes the connection. What it has not been sent by then would be lost.
        void Promise.all(sent).then(() => setTimeout(() => connection.end(), 100).unref())
      },
    })
  })
}
