// Translates a tenant's request to the kubelet's: namespace and uid become those of the super pod, the container its own; of the
// query only the kubelet's known parameters are forwarded. Pure.

import { dictionary } from "../apimachinery/dictionary.ts"
import { clusterAnnotation, namespaceAnnotation, superNamespace, uidAnnotation } from "../apimachinery/tenancy.ts"
import type { Pod } from "../apimachinery/object.ts"
import { scrubText } from "../apimachinery/tenant-texts.ts"
import { parseStatus } from "../client/http/errors.ts"
import type { TenantIdentity } from "./identity.ts"
import type { RoutedRequest } from "./routes.ts"

const parameters: Record<string, readonly string[]> = dictionary({
  containerLogs: [
    "follow",
    "previous",
    "tailLines",
    "limitBytes",
    "sinceSeconds",
    "sinceTime",
    "timestamps",
    "insecureSkipTLSVerifyBackend",
    "stream",
  ],
  exec: ["command", "input", "output", "error", "tty"],
  attach: ["input", "output", "error", "tty"],
  portForward: ["port", "ports"],
})

export function superNamespaceOf(identity: TenantIdentity, request: Pick<RoutedRequest, "namespace">): string {
  return superNamespace(identity.clusterKey, request.namespace)
}

/**
 * Returns why this pod must not be accessed, or undefined if it may be: it must carry the tenant's marks, which tenants cannot
 * write, and run on this node.
 */
export function refusal(identity: TenantIdentity, request: RoutedRequest, pod: Pod, node: string): string | undefined {
  const annotations = pod.metadata.annotations ?? {}
  if (annotations[clusterAnnotation] !== identity.clusterKey) return "it belongs to somebody else"
  if (annotations[namespaceAnnotation] !== request.namespace) return "it belongs to another namespace"
  if (request.uid !== undefined && annotations[uidAnnotation] !== request.uid) return "it is another pod of that name"
  if (pod.spec?.nodeName !== node) return "it runs on another node"
  const names = [
    ...(pod.spec.containers ?? []),
    ...(pod.spec.initContainers ?? []),
    ...(pod.spec.ephemeralContainers ?? []),
  ].map((container) => container.name)
  if (request.container !== undefined && !names.includes(request.container)) return "it has no such container"
  return undefined
}

/** What the kubelet or the API server says of a call that it refuses, without the names that the super cluster has for the pod. */
export function refusalText(identity: TenantIdentity, routed: RoutedRequest, body: Buffer): string {
  return tenantText(identity, routed, parseStatus(body)?.message ?? body.toString("utf8").trim())
}

/** The text without the names that the super cluster has for the pod. */
export function tenantText(identity: TenantIdentity, { namespace }: RoutedRequest, text: string): string {
  const superNamespace = superNamespaceOf(identity, { namespace })
  return scrubText(text, { tenant: identity, namespace, superNamespace })
}

/** Path and query of the request to the kubelet. */
export function kubeletPath(identity: TenantIdentity, request: RoutedRequest): string {
  const segments = [request.action, superNamespaceOf(identity, request), request.pod]
  if (request.container !== undefined) segments.push(request.container)
  return print(segments, new URLSearchParams(knownParameters(request)))
}

const subresources: Record<string, string> = dictionary({
  containerLogs: "log",
  exec: "exec",
  attach: "attach",
  portForward: "portforward",
})
/** The kubelet's name of a flag, which is "1" there → the API's, which is "true". */
const flags: Record<string, string> = dictionary({ input: "stdin", output: "stdout", error: "stderr", tty: "tty" })

/**
 * Path and query of the request to the super cluster's API server: the pod's subresource. (Below nodes/proxy, where the kubelet's
 * own paths are, an upgrade loses its query.)
 */
export function apiServerPath(identity: TenantIdentity, request: RoutedRequest): string {
  const pod = ["api", "v1", "namespaces", superNamespaceOf(identity, request), "pods", request.pod]
  const query = new URLSearchParams()
  if (request.container !== undefined) query.set("container", request.container)
  for (const [name, value] of knownParameters(request)) {
    const flag = flags[name]
    if (flag === undefined) query.append(name === "port" ? "ports" : name, value)
    // Like in the kubelet, any other value is false.
    else if (value === "1") query.set(flag, "true")
  }
  return print([...pod, subresources[request.action] ?? ""], query)
}

function knownParameters({ action, query }: RoutedRequest): [string, string][] {
  const known = parameters[action] ?? []
  return [...new URLSearchParams(query)].filter(([name]) => known.includes(name))
}

function print(segments: readonly string[], query: URLSearchParams): string {
  return `/${segments.join("/")}${query.size === 0 ? "" : `?${query.toString()}`}`
}
