// A new Node has a taint until the node lifecycle controller sees that it is ready, so that no pod is placed on it before. Virtual nodes
// have the taints of the super cluster. Source: k8s.io/kubernetes/plugin/pkg/admission/nodetaint.

import type { Node } from "../../../apimachinery/object.ts"
import { isVirtualNode } from "../../../apimachinery/tenancy.ts"
import type { AdmissionPlugin } from "../chain.ts"
import { isOf, objectAs } from "./refuse.ts"

const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }

export const taintNodesByCondition: AdmissionPlugin = {
  concerns: (attributes) =>
    isOf(attributes, "", "nodes") &&
    attributes.operation === "CREATE" &&
    attributes.object !== undefined &&
    !isVirtualNode(attributes.object),

  mutate(_ctx, attributes) {
    const node = objectAs<Node>(attributes)
    const { taints = [] } = node.spec ?? {}
    if (taints.some(({ key, effect }) => key === taint.key && effect === taint.effect)) return
    node.spec = { ...node.spec, taints: [...taints, taint] }
  },
}
