// PriorityClasses. Source: k8s.io/kubernetes/pkg/apis/scheduling.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { type FieldError, FieldPath, forbiddenField } from "../../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableFields } from "../../validation/equality.ts"
import { oneOf } from "../../validation/values.ts"

type PriorityClass = KubeObject & { value?: number; preemptionPolicy?: string; globalDefault?: boolean }

const highest = 1_000_000_000
const system: Readonly<Record<string, number>> = dictionary({
  "system-cluster-critical": 2_000_000_000,
  "system-node-critical": 2_000_001_000,
})

const strategy: Strategy<PriorityClass> = {
  generation: true,
  specChanged: () => false,

  default(priorityClass) {
    priorityClass.preemptionPolicy ??= "PreemptLowerPriority"
    priorityClass.value ??= 0
  },

  validate(_ctx, priorityClass) {
    const { metadata, value = 0, preemptionPolicy } = priorityClass
    const errors: FieldError[] = []
    if (metadata.name?.startsWith("system-") === true) {
      const fault = systemFault(metadata.name, priorityClass)
      const detail = `priority class names with 'system-' prefix are reserved for system use only. error: ${fault}`
      if (fault !== undefined) errors.push(forbiddenField(FieldPath.root("metadata", "name"), detail))
    } else if (value > highest) {
      errors.push(
        forbiddenField(FieldPath.root("value"), `maximum allowed value of a user defined priority is ${highest}`),
      )
    }
    return [
      ...errors,
      ...oneOf(FieldPath.root("preemptionPolicy"), preemptionPolicy, ["PreemptLowerPriority", "Never"]),
    ]
  },

  keptBecause: (name) =>
    Object.hasOwn(system, name) ? "this is a system priority class and cannot be deleted" : undefined,

  validateUpdate: (_ctx, priorityClass, current) => [
    ...(priorityClass.value === current.value
      ? []
      : [forbiddenField(FieldPath.root("value"), "may not be changed in an update.")]),
    ...immutableFields(FieldPath.root(), priorityClass, current, ["preemptionPolicy"]),
  ],
}

/** Why it is none of those that a control plane has by itself. */
function systemFault(name: string, { value = 0, globalDefault = false }: PriorityClass): string | undefined {
  const known = system[name]
  if (known === undefined) return `${name} is not a known system priority class`
  if (value !== known) return `value of ${name} PriorityClass must be ${known}`
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined
}

export const priorityClasses: KindExtension = { strategy }
