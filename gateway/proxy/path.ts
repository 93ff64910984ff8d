// The paths of proxy subresources: "[scheme:]name[:port]" and the path after "proxy".

import type { IncomingMessage } from "node:http"
import { tenantURL } from "./forward.ts"

export interface ProxyName {
  scheme: "http" | "https"
  name: string
  /** A number or a name; "": the first port. */
  port: string
}

/** Returns undefined if it is invalid. Source: k8s.io/apimachinery/pkg/util/net/port_split.go. */
export function parseProxyName(id: string): ProxyName | undefined {
  const parts = id.split(":")
  const [scheme = "", name = "", port = ""] = parts.length === 3 ? parts : ["", ...parts]
  if (parts.length > 3 || name === "" || !["", "http", "https"].includes(scheme)) return undefined
  return { scheme: scheme === "https" ? "https" : "http", name, port }
}

interface ProxyPath {
  /**
   * The path up to "proxy", as the client sent it, but without the prefix that names the tenant: programs between the gateway and a
   * browser (`kubectl proxy`) add it to every request, and other clients are identified by their credentials.
   */
  prefix: string
  /** The path for the server with its leading "/", still encoded; "" if the path ends with "proxy". */
  rest: string
  /** With "?", or "". */
  query: string
}

const shape = /^(\/api\/v1\/(?:namespaces\/[^/]+\/[^/]+|nodes)\/[^/]+\/proxy)(\/[^?]*)?(\?.*)?$/s

export function parseProxyPath(request: IncomingMessage): ProxyPath {
  const [, prefix = "", rest = "", query = ""] = shape.exec(tenantURL(request)) ?? []
  return { prefix, rest, query }
}
