// The location of a pod's streams: the kubelet endpoint of its node, and the path on it. Source: the locations in
// k8s.io/kubernetes/pkg/registry/core/pod/strategy.go.

import type { Node, Pod } from "../../../../../apimachinery/object.ts"
import { badRequest, isNotFound, notFound } from "../../../../../apimachinery/status.ts"
import { nodes } from "../../../../../client/resources.ts"
import type { UpgradeTarget } from "../../../../../client/http/upgrade.ts"
import type { RequestContext } from "../../../../request/context.ts"
import type { Registry } from "../../../rest.ts"

const defaultContainerAnnotation = "kubectl.kubernetes.io/default-container"

export async function getPod(ctx: RequestContext, registry: Registry, namespace: string, name: string): Promise<Pod> {
  return (await registry.get(ctx, namespace, name)).object() as Pod
}

/** The requested container, or the only one, or the annotated default. */
export function chooseContainer(pod: Pod, asked: string | null): string {
  const containers = (pod.spec?.containers ?? []).map(({ name }) => name)
  const initContainers = (pod.spec?.initContainers ?? []).map(({ name }) => name)
  const ephemeral = (pod.spec?.ephemeralContainers ?? []).map(({ name }) => name)
  const name = pod.metadata.name ?? ""
  if (asked !== null && asked !== "") {
    if ([...containers, ...initContainers, ...ephemeral].includes(asked)) return asked
    throw badRequest(`container ${asked} is not valid for pod ${name}`)
  }
  const only = containers[0]
  if (containers.length === 1 && initContainers.length === 0 && ephemeral.length === 0 && only !== undefined)
    return only
  const annotated = pod.metadata.annotations?.[defaultContainerAnnotation]
  if (annotated !== undefined && containers.includes(annotated)) return annotated
  if (containers.length === 1 && only !== undefined) return only
  const init = initContainers.length === 0 ? "" : ` or one of the init containers: [${initContainers.join(" ")}]`
  throw badRequest(
    `a container name must be specified for pod ${name}, choose one of: [${containers.join(" ")}]${init}`,
  )
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
