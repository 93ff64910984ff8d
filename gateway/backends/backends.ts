// Connections from the gateway to the backends of a tenant: pods (through the node's port-forward), Services (one of their
// endpoints) and URLs (allowed networks only). Used by webhooks, aggregated APIs and the proxy subresources. There is one instance
// per control plane, so that connections are never shared between tenants; connections are opened on demand and closed when idle.

import { once } from "node:events"
import { Agent as HttpsAgent } from "node:https"
import { connect as connectTCP, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { connect as connectTLS, type ConnectionOptions } from "node:tls"
import type { Node, Pod } from "../../apimachinery/object.ts"
import { isNotFound, serviceUnavailable } from "../../apimachinery/status.ts"
import { tcpKeepAlive } from "../../client/http/tcp-keep-alive.ts"
import { nodes, pods } from "../../client/resources.ts"
import type { NodeDialer } from "../control-plane/node-dialer.ts"
import type { NetworkRules } from "./networks.ts"
import { openPodTunnel } from "./pod-tunnel.ts"
import type { ServerHandshakes } from "./server-handshakes.ts"
import { type Reader, resolveService, type ServiceEndpoint } from "./service-endpoint.ts"

const backendLimits = {
  /** Connections of one control plane to its Services, and the same number to URLs. Beyond: requests wait until their timeout. */
  connections: 64,
  /** Number of idle connections kept for later calls, and for how long. */
  idleConnections: 8,
  idleMs: 30_000,
  /** Timeout for opening a connection, including TLS. */
  connectTimeoutMs: 15_000,
} as const

interface BackendsParts {
  /** Reads the control plane's own objects. */
  reader: Reader
  nodes: Pick<NodeDialer, "dial">
  networks: NetworkRules
  /** Of all control planes. */
  handshakes: ServerHandshakes
}

/** Additional request options for the agents here. */
export interface ServiceTarget {
  /** Without it, the host is a host name or address. */
  service?: { namespace: string; name: string; port: number }
}

export class Backends implements Disposable {
  readonly #parts: BackendsParts
  #services: BackendAgent | undefined
  #urls: BackendAgent | undefined

  constructor(parts: BackendsParts) {
    this.#parts = parts
  }

  /** TLS connections to Services: requests specify theirs with {@link ServiceTarget}. */
  get services(): HttpsAgent {
    return (this.#services ??= new BackendAgent(async ({ service, ...options }, signal) => {
      if (service === undefined) throw new TypeError("a request to a Service does not name it")
      return this.secure(await this.dialService(service, signal), options, signal)
    }))
  }

  /** TLS connections to the hosts of URLs. */
  get urls(): HttpsAgent {
    return (this.#urls ??= new BackendAgent(async (options, signal) =>
      this.secure(await this.#dialAddress(String(options.host), Number(options.port), signal), options, signal),
    ))
  }

  /** Here and below, `signal` aborts the attempt; an established connection belongs to the caller. */
  async dialService(
    { namespace, name, port }: { namespace: string; name: string; port: number },
    signal: AbortSignal,
  ): Promise<Duplex> {
    return this.dialEndpoint(await resolveService(this.#parts.reader, { namespace, name }, port), signal)
  }

  async dialEndpoint({ pod, address, port }: ServiceEndpoint, signal: AbortSignal): Promise<Duplex> {
    if (pod === undefined) return this.#dialAddress(address, port, signal)
    return this.dialPod(await this.#parts.reader.get<Pod>(pods, pod.namespace, pod.name), port, signal)
  }

  async dialPod(pod: Pod, port: number, signal: AbortSignal): Promise<Duplex> {
    const { namespace = "", name = "" } = pod.metadata
    const target = await this.#parts.nodes.dial(await this.#nodeOf(pod))
    return openPodTunnel({ ...target, path: `/portForward/${namespace}/${name}?port=${port}` }, signal)
  }

  async #nodeOf({ metadata, spec }: Pod): Promise<Node> {
    const name = spec?.nodeName ?? ""
    if (name === "") throw serviceUnavailable(`pod "${metadata.name}" runs on no node yet`)
    try {
      return await this.#parts.reader.get<Node>(nodes, undefined, name)
    } catch (error) {
      if (isNotFound(error)) throw serviceUnavailable(`node "${name}" of pod "${metadata.name}" does not exist`)
      throw error
    }
  }

  async #dialAddress(host: string, port: number, signal: AbortSignal): Promise<Socket> {
    const address = await this.#parts.networks.resolve(host.replace(/^\[|\]$/g, ""))
    const socket = connectTCP({ ...tcpKeepAlive, host: address, port, noDelay: true })
    try {
      // Not the socket's own signal, which would also close an established connection.
      await once(socket, "connect", { signal })
      return socket
    } catch (error) {
      socket.destroy()
      throw error
    }
  }

  /** Starts TLS on an established connection. Rejects if the certificate does not satisfy the options. */
  secure(raw: Duplex, options: ConnectionOptions, signal: AbortSignal): Promise<Duplex> {
    const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
    const { port: _port, path: _path, ...rest } = options
    const socket = connectTLS({ ...rest, socket: raw })
    const ended = this.#parts.handshakes.begin(this, raw)
    const fail = (error: Error): void => {
      ended()
      socket.destroy()
      raw.destroy()
      reject(error)
    }
    const abort = (): void => fail(new Error("i/o timeout"))
    signal.addEventListener("abort", abort, { once: true })
    raw.once("error", fail)
    // Stays: bytes that came with the end of the handshake may be no TLS, which is told before the caller can listen.
    socket.on("error", fail)
    if (signal.aborted) abort() // the time limit passed before this point
    const closed = (): void => fail(new Error("EOF"))
    socket.once("close", closed)
    socket.once("secureConnect", () => {
      ended()
      signal.removeEventListener("abort", abort)
      // The TLS socket now owns the connection and reports its errors.
      raw.off("error", fail)
      raw.on("error", (error) => socket.destroy(error))
      socket.once("close", () => raw.destroy())
      // After what those bytes have led to: nobody else would tell the caller.
      setImmediate(() => {
        socket.off("close", closed)
        resolve(socket)
      })
    })
    return promise
  }

  [Symbol.dispose](): void {
    this.#services?.destroy()
    this.#urls?.destroy()
  }
}

/** Secured connections. */
type Dial = (options: ConnectionOptions & ServiceTarget, signal: AbortSignal) => Promise<Duplex>

/** Node's connection pool with connections that are opened by `dial`. */
class BackendAgent extends HttpsAgent {
  readonly #dial: Dial

  constructor(dial: Dial) {
    super({
      keepAlive: true,
      timeout: backendLimits.idleMs,
      maxSockets: backendLimits.connections,
      maxTotalSockets: backendLimits.connections,
      maxFreeSockets: backendLimits.idleConnections,
    })
    this.#dial = dial
  }

  override createConnection(
    options: ConnectionOptions & ServiceTarget,
    callback: (error: Error | null, socket?: Duplex) => void,
  ): undefined {
    const signal = AbortSignal.timeout(backendLimits.connectTimeoutMs)
    this.#dial(options, signal).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(signal.aborted ? new Error("i/o timeout", { cause: error }) : (error as Error)),
    )
    return undefined
  }
}
