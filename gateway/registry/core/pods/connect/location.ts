// The location of a pod's streams: the kubelet endpoint of its node, and the path on it. Source: the locations in
// k8s.io/kubernetes/pkg/registry/core/pod/strategy.go.

import type { Node, Pod } from "../../../../../apimachinery/object.ts"
import { badRequest, isNotFound, notFound } from "../../../../../apimachinery/status.ts"
import { nodes } from "../../../../../client/resources.ts"
import type { UpgradeTarget } from "../../../../../client/http/upgrade.ts"
import type { RequestContext } from "../../../../request/context.ts"
import type { Registry } from "../../../rest.ts"

export async function getPod(ctx: RequestContext, registry: Registry, namespace: string, name: string): Promise<Pod> {
  return (await registry.get(ctx, namespace, name)).object()
}

/** The requested container, or the only one besides those that are not its main containers. */
export function chooseContainer({ metadata: { name = "" }, spec }: Pod, asked: string | null): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {}
  const names = [...initContainers, ...containers, ...ephemeralContainers].map((container) => container.name)
  if (asked) {
    if (names.includes(asked)) return asked
    throw badRequest(`container ${asked} is not valid for pod ${name}`)
  }
  const [first, ...others] = containers
  if (first !== undefined && others.length === 0) return first.name
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(" ")}]`)
}

/** Undefined while the pod has no node. */
export async function dialNode(ctx: RequestContext, pod: Pod): Promise<UpgradeTarget | undefined> {
  const nodeName = pod.spec?.nodeName
  if (nodeName === undefined || nodeName === "") return undefined
  const node = await ctx.controlPlane.client.get<Node>(nodes, undefined, nodeName).catch((error: unknown) => {
    // Upstream reports the node as the requested resource.
    throw isNotFound(error) ? notFound({ group: "", resource: "pods" }, nodeName) : error
  })
  return ctx.controlPlane.nodes.dial(node)
}

export function kubeletPath(action: string, pod: Pod, container: string | undefined, query: URLSearchParams): string {
  const segments = [action, pod.metadata.namespace ?? "", pod.metadata.name ?? ""]
  if (container !== undefined) segments.push(container)
  return `/${segments.join("/")}${query.size === 0 ? "" : `?${query.toString()}`}`
}
