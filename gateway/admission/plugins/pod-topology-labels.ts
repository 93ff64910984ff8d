// Copies the zone and region labels of the node to pods when they are bound. Source:
// k8s.io/kubernetes/plugin/pkg/admission/podtopologylabels.

import type { KubeObject, Node, Pod } from "../../../apimachinery/object.ts"
import { nodes } from "../../../client/resources.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionPlugin } from "../chain.ts"
import { find } from "./lookup.ts"
import { isOf, objectAs } from "./refuse.ts"

const copied = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"]

interface Binding extends KubeObject {
  target?: { kind?: string; name?: string }
}

export const podTopologyLabels: AdmissionPlugin = {
  concerns: ({ resource, operation }) =>
    resource.group === "" && resource.resource === "pods" && operation === "CREATE",

  async mutate(ctx, attributes) {
    if (isOf(attributes, "", "pods")) {
      const pod = objectAs<Pod>(attributes)
      await label(ctx, pod, pod.spec?.nodeName)
    } else if (isOf(attributes, "", "pods", "binding")) {
      // The pod gets the labels of the binding.
      const binding = objectAs<Binding>(attributes)
      if (binding.target?.kind === "Node") await label(ctx, binding, binding.target.name)
    }
  },
}

/** An unknown node has no labels to copy. */
async function label(ctx: RequestContext, { metadata }: KubeObject, nodeName: string | undefined): Promise<void> {
  if (nodeName === undefined || nodeName === "") return
  const node = await find<Node>(ctx, nodes, "", nodeName)
  for (const name of copied) {
    const value = node?.metadata.labels?.[name]
    if (value !== undefined) metadata.labels = { ...metadata.labels, [name]: value }
  }
}
