// Sets a pod's priority from its priority class. Source: k8s.io/kubernetes/plugin/pkg/admission/priority.

import type { Pod, PriorityClass } from "../../../apimachinery/object.ts"
import { priorityClasses } from "../../../client/resources.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../chain.ts"
import { builtIn } from "../../registry/generic/internal-write.ts"
import { find } from "./lookup.ts"
import { isOf, objectAs, refuse } from "./refuse.ts"

export const priority: AdmissionPlugin = {
  concerns: (attributes) =>
    (attributes.operation === "CREATE" || attributes.operation === "UPDATE") &&
    (isOf(attributes, "", "pods") || isOf(attributes, "scheduling.k8s.io", "priorityclasses")),

  async mutate(ctx, attributes) {
    if (!isOf(attributes, "", "pods")) return
    const pod = objectAs<Pod>(attributes)
    const spec = (pod.spec ??= { containers: [] })
    if (attributes.operation === "UPDATE") {
      // Clients that do not know the fields omit them in updates.
      const before = (attributes.current as Pod | undefined)?.spec
      if (before?.priority !== undefined) spec.priority ??= before.priority
      if (before?.preemptionPolicy !== undefined) spec.preemptionPolicy ??= before.preemptionPolicy
      return
    }
    const found = await classOf(ctx, attributes, spec.priorityClassName)
    if (found?.metadata.name !== undefined) spec.priorityClassName = found.metadata.name
    const value = found?.value ?? 0
    if (spec.priority !== undefined && spec.priority !== value) {
      throw refuse(
        attributes,
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
      )
    }
    spec.priority = value
    const policy = found === undefined ? "PreemptLowerPriority" : found.preemptionPolicy
    if (policy === undefined) return
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
      throw refuse(
        attributes,
        `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
      )
    }
    spec.preemptionPolicy = policy
  },

  async validate(ctx, attributes) {
    if (!isOf(attributes, "scheduling.k8s.io", "priorityclasses")) return
    const wanted = objectAs<PriorityClass>(attributes)
    if (wanted.globalDefault !== true) return
    const present = await defaultClass(ctx)
    if (present === undefined) return
    if (attributes.operation === "CREATE" || present.metadata.name !== wanted.metadata.name) {
      throw refuse(
        attributes,
        `PriorityClass ${present.metadata.name} is already marked as default. Only one default can exist`,
      )
    }
  },
}

async function classOf(
  ctx: RequestContext,
  attributes: AdmissionAttributes,
  name: string | undefined,
): Promise<PriorityClass | undefined> {
  if (!name) return defaultClass(ctx)
  const found = await find<PriorityClass>(ctx, priorityClasses, "", name)
  if (found === undefined) throw refuse(attributes, `no PriorityClass with name ${name} was found`)
  return found
}

const globalDefault = '"globalDefault":true'

/** The default class with the lowest value; there is more than one only if two were created at the same time. */
async function defaultClass(ctx: RequestContext): Promise<PriorityClass | undefined> {
  const { items } = await builtIn(ctx, priorityClasses).list(ctx, {})
  // Every pod needs this, and nearly no class is a default, so the others are not parsed.
  const marked = items
    .filter((item) => Buffer.from(item.bytes()).includes(globalDefault))
    .map((item) => item.object() as PriorityClass)
    .filter((found) => found.globalDefault === true)
  return marked.sort((a, b) => (a.value ?? 0) - (b.value ?? 0))[0]
}
