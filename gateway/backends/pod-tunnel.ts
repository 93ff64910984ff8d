// A byte stream to a port of a pod through the kubelet's port-forward: it works wherever `kubectl port-forward` does, even if the
// gateway has no network route to the pod, and the node verifies the ownership of the pod. WebSocket form, one port: channel 0
// contains data in both directions, channel 1 the error; each begins with the port, two bytes, little endian. Source:
// k8s.io/cri-streaming/pkg/streaming/portforward/websocket.go.

import type { IncomingMessage } from "node:http"
import { Duplex } from "node:stream"
import { WebSocket, type RawData } from "ws"
import { joinHostPort } from "../../apimachinery/addresses.ts"
import { tcpKeepAlive } from "../../client/http/tcp-keep-alive.ts"
import type { UpgradeTarget } from "../../client/http/upgrade.ts"
import { limitMessagesPerTurn, maxFragments } from "../request/web-socket.ts"

const protocol = "v4.channel.k8s.io"
/** Timeout until the node has accepted. */
const handshakeTimeoutMs = 15_000
/** Maximum size of a message; kubelets send at most 32 KiB, in one fragment. */
const maxMessageBytes = 1024 * 1024
/** Maximum number of bytes of an error that are passed on. */
const maxErrorBytes = 4096
/** Bytes buffered by the socket; beyond it the writer waits. */
const maxUnsentBytes = 256 * 1024

/** The code of a WebSocket that has no last frame: its connection was cut. */
const abnormal = 1006

const dataChannel = 0
const errorChannel = 1

/** `target` has the path of the port-forward with `?port=`. Resolves when the node has accepted; the pod may still refuse. */
export function openPodTunnel(target: UpgradeTarget & { path: string }, signal: AbortSignal): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
  const { host, port, path, ...options } = target
  const socket = new WebSocket(`wss://${joinHostPort(String(host), port ?? "")}${path}`, [protocol], {
    ...tcpKeepAlive,
    ...options,
    handshakeTimeout: handshakeTimeoutMs,
    maxPayload: maxMessageBytes,
    maxFragments,
    perMessageDeflate: false,
  })
  const abort = (): void => socket.terminate()
  signal.addEventListener("abort", abort, { once: true })
  if (signal.aborted) abort()
  socket.once("open", () => {
    signal.removeEventListener("abort", abort)
    limitMessagesPerTurn(socket)
    const stream = new TunnelStream(socket)
    // Stays: what came with the acceptance may be no WebSocket, which is told before the caller can listen.
    stream.on("error", reject)
    setImmediate(() => resolve(stream))
  })
  socket.once("error", (error) => {
    signal.removeEventListener("abort", abort)
    reject(error)
  })
  socket.once("unexpected-response", (request, response) => {
    void refusalOf(response).then((text) => {
      request.destroy()
      reject(new Error(text))
    })
  })
  return promise
}

async function refusalOf(response: IncomingMessage): Promise<string> {
  let text = ""
  response.setEncoding("utf8")
  try {
    for await (const chunk of response) {
      text += String(chunk)
      if (text.length > maxErrorBytes) break
    }
  } catch {
    // the text received so far is reported
  }
  return text.trim() || `the node answered ${response.statusCode}`
}

class TunnelStream extends Duplex {
  readonly #socket: WebSocket
  #errorText = ""
  #seenPort = [false, false]
  /** Messages that are not sent yet, and what to call then. */
  #sending = 0
  #finish: (() => void) | undefined

  constructor(socket: WebSocket) {
    super({ allowHalfOpen: false })
    this.#socket = socket
    socket.binaryType = "nodebuffer"
    socket.on("message", (data) => this.#take(data))
    socket.on("error", (error) => this.destroy(error))
    socket.on("close", (code) => {
      // What is cut must not look complete: an answer may end with its connection.
      const isCut = code === abnormal && !this.writableEnded
      if (this.#errorText === "" && !isCut) this.push(null)
      else this.destroy(this.#fault)
    })
  }

  /** Does nothing; callers of sockets expect the method. */
  setKeepAlive(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  setTimeout(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: string, callback: (error?: Error | null) => void): void {
    if (this.#socket.readyState !== WebSocket.OPEN) {
      callback(this.#fault)
      return
    }
    const message = Buffer.concat([Buffer.of(dataChannel), chunk])
    const waits = this.#socket.bufferedAmount > maxUnsentBytes
    this.#sending++
    this.#socket.send(message, (error) => {
      this.#sending--
      if (waits) callback(error)
      else if (error) this.destroy(error)
      if (this.#sending === 0) this.#finish?.()
    })
    if (!waits) callback()
  }

  /** What has been written is sent before: whoever ends the stream destroys it when it has finished. */
  override _final(callback: () => void): void {
    this.#finish = callback
    this.#socket.close()
    if (this.#sending === 0) callback()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#socket.terminate()
    callback(error)
  }

  /** Why it is closed. */
  get #fault(): Error {
    return this.#errorText === "" ? hungUp() : new Error(explained(this.#errorText))
  }

  #take(data: RawData): void {
    const message = data as Buffer
    const channel = message[0]
    if (channel !== dataChannel && channel !== errorChannel) return
    let body = message.subarray(1)
    if (this.#seenPort[channel] === false) {
      this.#seenPort[channel] = true
      body = body.subarray(2)
    }
    if (body.length === 0) return
    if (channel === errorChannel) this.#errorText = (this.#errorText + body.toString()).slice(0, maxErrorBytes)
    else if (!this.push(body)) this.#socket.pause()
  }
}

/** Node's error for a kept connection that has been closed, which go-errors.ts recognizes. */
function hungUp(): Error {
  return Object.assign(new Error("socket hang up"), { code: "ECONNRESET" })
}

/** Kubelets and runtimes wrap the network's error in details that do not help a tenant. */
function explained(text: string): string {
  if (/connection refused|nothing in the pod listens/i.test(text)) return "connect: connection refused"
  return `port-forward: ${text.replaceAll(/\s+/g, " ")}`
}
