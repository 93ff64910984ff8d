// The paths of proxy subresources: "[scheme:]name[:port]" and what follows "proxy".

import type { IncomingMessage } from "node:http"
import { tenantURL } from "./forward.ts"

export interface ProxyName {
  scheme: "http" | "https"
  name: string
  /** A number or a name; "": the first there is. */
  port: string
}

/** Undefined: not one. Source: k8s.io/apimachinery/pkg/util/net/port_split.go. */
export function parseProxyName(id: string): ProxyName | undefined {
  const parts = id.split(":")
  const [scheme = "", name = "", port = ""] = parts.length === 3 ? parts : ["", ...parts]
  if (parts.length > 3 || name === "" || !["", "http", "https"].includes(scheme)) return undefined
  return { scheme: scheme === "https" ? "https" : "http", name, port }
}

export interface ProxyPath {
  /**
   * Up to "proxy", as the client sent it, but without the part that names the tenant: what stands between the gateway and a
   * browser (`kubectl proxy`) puts it in front of every request by itself, and other clients are known by their credential.
   */
  prefix: string
  /** What the program is asked for, "/" and all, still encoded; "" when the path ends with "proxy". */
  rest: string
  /** With "?", or "". */
  query: string
}

const shape = /^(\/api\/v1\/(?:namespaces\/[^/]+\/[^/]+|nodes)\/[^/]+\/proxy)(\/[^?]*)?(\?.*)?$/s

export function parseProxyPath(request: IncomingMessage): ProxyPath {
  const [, prefix = "", rest = "", query = ""] = shape.exec(tenantURL(request)) ?? []
  return { prefix, rest, query }
}
