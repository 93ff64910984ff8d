// Sets the annotation on each node with the TTL of Secrets and ConfigMaps in the kubelet's cache, which grows with the cluster.
// Virtual nodes are skipped: their kubelets belong to the super cluster. Source: k8s.io/kubernetes/pkg/controller/ttl.

import type { Node } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { isVirtualNode } from "../../apimachinery/tenancy.ts"
import { nodes as nodeResource } from "../../client/resources.ts"
import type { ControllerContext } from "../context.ts"
import { Controller } from "../controller.ts"

const annotation = "node.alpha.kubernetes.io/ttl"

/** The steps overlap, so that a cluster at a boundary does not alternate between them. */
const steps = [
  { least: 0, most: 100, seconds: 0 },
  { least: 90, most: 500, seconds: 15 },
  { least: 450, most: 1000, seconds: 30 },
  { least: 900, most: 2000, seconds: 60 },
  { least: 1800, most: Number.POSITIVE_INFINITY, seconds: 300 },
] as const

export function runNodeTtl(ctx: ControllerContext): Promise<void> {
  const nodes = ctx.informers.of<Node>(nodeResource)
  /** By tenant: the step of its current number of nodes. */
  const at = new Map<string, number>()
  const controller = new Controller<Node>(ctx, {
    name: "node-ttl",
    primary: nodes,
    concerns: (node) => !isVirtualNode(node),
    matters: (node, previous) =>
      node.metadata.annotations?.[annotation] !== previous.metadata.annotations?.[annotation],
    forget: (tenant) => at.delete(tenant),
  })
  return controller.run(async ({ tenant, name }, actor) => {
    const count = nodes.count(tenant)
    const before = at.get(tenant) ?? 0
    const step = stepOf(before, count)
    at.set(tenant, step)
    if (step !== before) controller.enqueueAll(tenant)
    const node = nodes.get(tenant, undefined, name)
    const wanted = String(steps[step]?.seconds ?? 0)
    if (node === undefined || isVirtualNode(node) || node.metadata.annotations?.[annotation] === wanted) return
    const patch = { metadata: { annotations: { [annotation]: wanted } } }
    try {
      await actor.client.patch(nodeResource, undefined, name, patch, { type: "merge" })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  })
}

/** The step for this number of nodes, starting from the previous step. */
export function stepOf(before: number, count: number): number {
  let step = before
  while (count > (steps[step]?.most ?? Number.POSITIVE_INFINITY)) step++
  while (count < (steps[step]?.least ?? 0)) step--
  return step
}
