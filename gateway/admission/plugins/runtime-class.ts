// Adds the overhead, node selector and tolerations of a pod's runtime class. Source: k8s.io/kubernetes/plugin/pkg/admission/runtimeclass.

import type { KubeObject, Pod, PodSpec } from "../../../apimachinery/object.ts"
import { isGivenEmpty } from "../../../apimachinery/schema/decode/given.ts"
import { ownValue } from "../../../apimachinery/schema/json-object.ts"
import { runtimeClasses } from "../../../client/resources.ts"
import { withoutReason } from "../../registry/generic/metadata.ts"
import { semanticEqual } from "../../registry/validation/equality.ts"
import type { AdmissionPlugin } from "../chain.ts"
import { find } from "./lookup.ts"
import { isOf, objectAs, refuse } from "./refuse.ts"

type Toleration = NonNullable<PodSpec["tolerations"]>[number]

interface RuntimeClass extends KubeObject {
  overhead?: { podFixed?: Record<string, string> }
  scheduling?: { nodeSelector?: Record<string, string>; tolerations?: Toleration[] }
}

/** Equal tolerations have the same text. */
function print({ key, operator, value, effect, tolerationSeconds }: Toleration): string {
  return [key, operator, value, effect, tolerationSeconds]
    .map((field) => (field === undefined ? "" : `=${field}`))
    .join(" ")
}

export const runtimeClass: AdmissionPlugin = {
  name: "RuntimeClass",

  concerns: (attributes) => isOf(attributes, "", "pods") && attributes.operation === "CREATE",

  async mutate(ctx, attributes) {
    const spec = objectAs<Pod>(attributes).spec
    const name = spec?.runtimeClassName
    if (spec === undefined) return
    if (name === undefined) return
    // Upstream looks it up by name, and its error for an empty name has no reason.
    if (name === "") throw withoutReason("resource name may not be empty")
    const found = await find<RuntimeClass>(ctx, runtimeClasses, "", name)
    if (found === undefined) {
      throw refuse(attributes, `pod rejected: RuntimeClass "${name}" not found`)
    }
    const overhead = found.overhead?.podFixed
    if (spec.overhead !== undefined && !semanticEqual(spec.overhead, overhead)) {
      throw refuse(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
    }
    if (overhead !== undefined) spec.overhead = { ...overhead } as NonNullable<PodSpec["overhead"]>
    const selector = found.scheduling?.nodeSelector ?? {}
    for (const [key, value] of Object.entries(selector)) {
      const own = ownValue(spec.nodeSelector, key)
      if (own !== undefined && own !== value) {
        throw refuse(
          attributes,
          `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
        )
      }
    }
    if (Object.keys(selector).length > 0) spec.nodeSelector = { ...spec.nodeSelector, ...selector }
    const own = new Set((spec.tolerations ?? []).map(print))
    const more = (found.scheduling?.tolerations ?? []).filter((toleration) => !own.has(print(toleration)))
    if (more.length > 0) spec.tolerations = [...(spec.tolerations ?? []), ...structuredClone(more)]
  },

  async validate(_ctx, attributes) {
    const spec = objectAs<Pod>(attributes).spec
    if (spec === undefined || spec.runtimeClassName !== undefined) return
    if (spec.overhead !== undefined || isGivenEmpty(spec, "overhead")) {
      throw refuse(attributes, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
    }
  },
}
