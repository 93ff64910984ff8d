// What an update asks of the kubelet of a pod's node, which declares the features that it has: to resize whole pods, and containers that
// run before the others. Source: k8s.io/kubernetes/plugin/pkg/admission/nodedeclaredfeatures, k8s.io/component-helpers/nodedeclaredfeatures.

import { equalJson } from "../../../apimachinery/equality.ts"
import type { Node, Pod } from "../../../apimachinery/object.ts"
import { nodes } from "../../../client/resources.ts"
import { semanticEqual } from "../../registry/validation/equality.ts"
import type { AdmissionPlugin } from "../chain.ts"
import { find } from "./lookup.ts"
import { isOf, objectAs, refuse } from "./refuse.ts"

type Spec = NonNullable<Pod["spec"]>

/** Those that an update may need, in the order in which messages name them. */
const features: readonly (readonly [name: string, isNeeded: (spec: Spec, before: Spec) => boolean])[] = [
  [
    "InPlacePodLevelResourcesVerticalScaling",
    ({ resources }, { resources: before }) =>
      (resources === undefined) !== (before === undefined) || !semanticEqual(resources, before),
  ],
  ["InPlacePodVerticalScalingInitContainers", resizesInitContainer],
]

export const declaredFeatures: AdmissionPlugin = {
  concerns: (attributes) =>
    ["", "resize"].some((subresource) => isOf(attributes, "", "pods", subresource)) &&
    attributes.operation === "UPDATE",

  async validate(ctx, attributes) {
    const { metadata, spec } = objectAs<Pod>(attributes)
    const current = attributes.current as Pod | undefined
    const nodeName = spec?.nodeName ?? ""
    if (spec === undefined || current?.spec === undefined || nodeName === "") return
    if (metadata.generation === current.metadata.generation) return
    const before = current.spec
    const needed = features.filter(([, isNeeded]) => isNeeded(spec, before)).map(([name]) => name)
    if (needed.length === 0) return
    const node = await find<Node>(ctx, nodes, "", nodeName)
    if (node === undefined) throw refuse(attributes, `node "${nodeName}" not found`)
    const declared = new Set(node.status?.declaredFeatures)
    const missing = needed.filter((name) => !declared.has(name))
    if (missing.length === 0) return
    const what = `pod update requires features ${missing.join(", ")}`
    throw refuse(attributes, `${what} which are not available on node "${nodeName}"`)
  },
}

/** Sidecars run beside the others. */
function resizesInitContainer({ initContainers = [] }: Spec, { initContainers: before = [] }: Spec): boolean {
  return before.some(
    ({ restartPolicy, resources = {} }, index) =>
      restartPolicy !== "Always" && !equalJson(resources, initContainers[index]?.resources ?? {}),
  )
}
