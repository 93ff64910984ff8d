// A pod on a node can be resized only up to the total allocatable resources of the node. Source:
// k8s.io/kubernetes/plugin/pkg/admission/podresize.

import { dictionary } from "../../../apimachinery/dictionary.ts"
import type { Node, Pod } from "../../../apimachinery/object.ts"
import {
  compareQuantities,
  milliValue,
  type Quantity,
  unitValue,
  zeroQuantity,
} from "../../../apimachinery/quantity.ts"
import { parseAmounts } from "../../../apimachinery/quota/amounts.ts"
import { podAmounts } from "../../../apimachinery/quota/usage.ts"
import { nodes } from "../../../client/resources.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../chain.ts"
import { find } from "./lookup.ts"
import { isOf, objectAs, refuse } from "./refuse.ts"

/** The format of amounts in messages. */
const units: Readonly<Record<string, (amount: Quantity) => number>> = dictionary({ cpu: milliValue, memory: unitValue })

export const podResize: AdmissionPlugin = {
  concerns: (attributes) => isOf(attributes, "", "pods", "resize") && attributes.operation === "UPDATE",

  async validate(ctx, attributes) {
    const { metadata, spec } = objectAs<Pod>(attributes)
    const nodeName = spec?.nodeName ?? ""
    if (spec === undefined || nodeName === "" || metadata.generation === attributes.current?.metadata.generation) return
    const node = await find<Node>(ctx, nodes, "", nodeName)
    if (node === undefined) throw refuse(attributes, `node "${nodeName}" not found`)
    const { "kubernetes.io/os": system = "linux" } = node.metadata.labels ?? {}
    if (system !== "linux") {
      const why = `pod resize is only supported on linux nodes, node "${nodeName}" is "${system}"`
      throw refuse(attributes, why, [{ reason: "UnsupportedPlatform" }])
    }
    rejectAbove(attributes, podAmounts(spec, "requests"), parseAmounts(node.status?.allocatable))
  },
}

type Amounts = ReturnType<typeof podAmounts>

function rejectAbove(attributes: AdmissionAttributes, requests: Amounts, allocatable: Amounts): void {
  const missing = Object.entries(units).flatMap(([name, value]) => {
    const [asked, given] = [requests[name] ?? zeroQuantity, allocatable[name] ?? zeroQuantity]
    if (compareQuantities(asked, given) <= 0) return []
    return [`${name}, requested: ${value(asked)}, allocatable: ${value(given)}`]
  })
  if (missing.length === 0) return
  const why = `node didn't have enough allocatable resources: ${missing.join("; ")}`
  throw refuse(attributes, why, [{ reason: "NodeCapacity" }])
}
