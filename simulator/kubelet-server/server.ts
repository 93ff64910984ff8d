// The kubelet's HTTP API of one simulated node: logs, exec, attach and port-forward over the real protocols, so that gateway and
// vn-agents can treat it like any kubelet. Callers authenticate with a client certificate.

import type { IncomingMessage } from "node:http"
import type { Log } from "../../client/log.ts"
import { CallRefused, NodeServer } from "../../client/http/node-server.ts"
import type { PodSandbox } from "../kubelet/pod-sandbox.ts"
import { sendLogs } from "./logs.ts"
import { acceptPortForward } from "./port-forward.ts"
import { acceptRemoteCommand } from "./remote-command.ts"
import type { KubeletRequest } from "./request.ts"

const maxConnections = 1024

interface KubeletServerOptions {
  node: string
  host: string
  /** 0 selects a free port. */
  port: number
  tls: { certificate: string; key: string }
  /** PEM; signs the certificates of callers. */
  clientCertificateAuthority: string
  sandbox(namespace: string, pod: string): PodSandbox | undefined
  log: Log
}

/** Fails if the port is not available. */
export function startKubeletServer(options: KubeletServerOptions): Promise<NodeServer> {
  const { tls, log, node } = options
  return NodeServer.start({
    host: options.host,
    port: options.port,
    maxConnections,
    tls: {
      cert: tls.certificate,
      key: tls.key,
      ca: options.clientCertificateAuthority,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: "TLSv1.2",
    },
    async serve(request, response) {
      const found = route(request, options)
      if (found.action !== "containerLogs") throw new CallRefused(400, "Upgrade request required")
      sendLogs(found, response)
    },
    async upgrade(request, { socket, head }) {
      const found = route(request, options)
      if (found.action === "portForward") acceptPortForward(found, request, socket, head)
      else if (found.action === "exec" || found.action === "attach") acceptRemoteCommand(found, request, socket, head)
      else throw new CallRefused(400, "this cannot be upgraded")
    },
    explain(error) {
      log.error({ err: error, node }, "kubelet request failed")
      return new CallRefused(500, "internal error of the simulated kubelet")
    },
  })
}

/** The possible numbers of path segments after the pod's name, by action. */
const partsAfterPod = new Map<string, readonly number[]>([
  ["containerLogs", [1]],
  ["exec", [1, 2]],
  ["attach", [1, 2]],
  ["portForward", [0, 1]],
])

/** /action/namespace/pod[/uid][/container] */
function route(request: IncomingMessage, options: KubeletServerOptions): KubeletRequest {
  const url = new URL(request.url ?? "/", "https://kubelet")
  const [action = "", namespace = "", pod = "", ...rest] = url.pathname.slice(1).split("/").map(decodeURIComponent)
  if (partsAfterPod.get(action)?.includes(rest.length) !== true) throw new CallRefused(404, "404 page not found")
  const sandbox = options.sandbox(namespace, pod)
  if (sandbox === undefined) throw new CallRefused(404, `pod does not exist: pod "${pod}_${namespace}" not found`)
  const uid = rest.length === 2 || (action === "portForward" && rest.length === 1) ? rest[0] : undefined
  if (uid !== undefined && uid !== sandbox.uid) throw new CallRefused(404, `pod "${pod}_${namespace}" has another uid`)
  return { action, sandbox, container: action === "portForward" ? "" : (rest.at(-1) ?? ""), query: url.searchParams }
}
