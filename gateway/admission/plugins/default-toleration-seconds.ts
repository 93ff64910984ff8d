// Adds tolerations with which pods stay for five minutes on a node that is not ready or unreachable. Source:
// k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds.

import type { Pod } from "../../../apimachinery/object.ts"
import type { AdmissionPlugin } from "../chain.ts"
import { isOf, objectAs } from "./refuse.ts"

const tolerationSeconds = 300
const taints = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]

export const defaultTolerationSeconds: AdmissionPlugin = {
  concerns: (attributes) =>
    isOf(attributes, "", "pods") && (attributes.operation === "CREATE" || attributes.operation === "UPDATE"),

  async mutate(_ctx, attributes) {
    const spec = (objectAs<Pod>(attributes).spec ??= { containers: [] })
    const tolerations = spec.tolerations ?? []
    const tolerates = (taint: string): boolean =>
      tolerations.some(({ key, effect }) => (key === taint || !key) && (effect === "NoExecute" || !effect))
    const missing = taints.filter((taint) => !tolerates(taint))
    if (missing.length === 0) return
    spec.tolerations = [
      ...tolerations,
      ...missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds })),
    ]
  },
}
