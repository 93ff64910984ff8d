// Adds the overhead, node selector and tolerations of a pod's runtime class. Source: k8s.io/kubernetes/plugin/pkg/admission/runtimeclass.

import type { KubeObject, Pod, PodSpec } from "../../../apimachinery/object.ts"
import { compareQuantities, parseQuantity } from "../../../apimachinery/quantity.ts"
import { isGivenEmpty } from "../../../apimachinery/schema/decode/given.ts"
import { ownValue } from "../../../apimachinery/schema/json-object.ts"
import { unexplained } from "../../../apimachinery/status.ts"
import { runtimeClasses } from "../../../client/resources.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../chain.ts"
import { find } from "./lookup.ts"
import { isOf, objectAs, refuse } from "./refuse.ts"
import { mergeTolerations, type Toleration } from "./tolerations.ts"

interface RuntimeClass extends KubeObject {
  overhead?: { podFixed?: Record<string, string> }
  scheduling?: Scheduling
}

interface Scheduling {
  nodeSelector?: Record<string, string>
  tolerations?: Toleration[]
}

export const runtimeClass: AdmissionPlugin = {
  concerns: (attributes) => isOf(attributes, "", "pods") && attributes.operation === "CREATE",

  async mutate(ctx, attributes) {
    const spec = objectAs<Pod>(attributes).spec
    if (spec === undefined) return
    const { overhead, scheduling } = (await classOf(ctx, attributes, spec)) ?? {}
    if (overhead !== undefined) setOverhead(attributes, spec, overhead.podFixed)
    if (scheduling !== undefined) setScheduling(attributes, spec, scheduling)
  },

  async validate(ctx, attributes) {
    const spec = objectAs<Pod>(attributes).spec
    if (spec === undefined) return
    const { overhead } = (await classOf(ctx, attributes, spec)) ?? {}
    if (overhead !== undefined) {
      if (!sameAmounts(spec.overhead, overhead.podFixed)) throw otherOverhead(attributes)
    } else if (spec.overhead !== undefined || isGivenEmpty(spec, "overhead")) {
      throw refuse(attributes, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
    }
  },
}

async function classOf(
  ctx: RequestContext,
  attributes: AdmissionAttributes,
  { runtimeClassName: name }: PodSpec,
): Promise<RuntimeClass | undefined> {
  if (name === undefined) return undefined
  // Upstream looks it up by name, and its error for an empty name has no reason.
  if (name === "") throw unexplained("resource name may not be empty")
  const found = await find<RuntimeClass>(ctx, runtimeClasses, "", name)
  if (found === undefined) throw refuse(attributes, `pod rejected: RuntimeClass "${name}" not found`)
  return found
}

function setOverhead(attributes: AdmissionAttributes, spec: PodSpec, podFixed: Record<string, string> = {}): void {
  if (spec.overhead !== undefined && !sameAmounts(spec.overhead, podFixed)) throw otherOverhead(attributes)
  if (Object.keys(podFixed).length > 0) spec.overhead = { ...podFixed } as NonNullable<PodSpec["overhead"]>
}

function sameAmounts(a: object = {}, b: object = {}): boolean {
  const [one, other] = [Object.entries<string>({ ...a }), new Map(Object.entries<string>({ ...b }))]
  return (
    one.length === other.size &&
    one.every(([name, amount]) => {
      const second = other.get(name)
      return second !== undefined && compareQuantities(parseQuantity(amount), parseQuantity(second)) === 0
    })
  )
}

const otherOverhead = (attributes: AdmissionAttributes): Error =>
  refuse(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")

function setScheduling(
  attributes: AdmissionAttributes,
  spec: PodSpec,
  { nodeSelector = {}, tolerations = [] }: Scheduling,
): void {
  for (const [key, value] of Object.entries(nodeSelector)) {
    const own = ownValue(spec.nodeSelector, key)
    if (own === undefined || own === value) continue
    throw refuse(
      attributes,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
    )
  }
  if (Object.keys(nodeSelector).length > 0) spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector }
  const all = mergeTolerations([...(spec.tolerations ?? []), ...structuredClone(tolerations)])
  if (all.length > 0) spec.tolerations = all
}
