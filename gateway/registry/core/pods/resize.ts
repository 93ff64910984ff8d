// pods/resize: cpu and memory of containers change in place. Source: k8s.io/kubernetes/pkg/apis/core/validation
// ValidatePodResize.

import { type FieldError, FieldPath, forbiddenField, invalidValue } from "../../../../apimachinery/field-errors.ts"
import type { Container, Pod, PodSpec } from "../../../../apimachinery/object.ts"
import type { SubresourceHandler } from "../../strategy.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { qosClass } from "../pod-spec/qos.ts"
import type { ResourceList } from "../pod-spec/types.ts"
import { podSubresource, resetForSubresource } from "./subresource.ts"

export const resize: SubresourceHandler = podSubresource("resize")

const path = FieldPath.root("spec")

export function dropUnlessResize(pod: Pod, current: Pod): void {
  const wanted = pod.spec
  const spec = current.spec
  if (wanted === undefined || spec === undefined) return
  if (wanted.containers?.length !== spec.containers.length) return
  if ((wanted.initContainers ?? []).length !== (spec.initContainers ?? []).length) return
  resetForSubresource(pod, current)
  const next: PodSpec = { ...spec, containers: withResources(spec.containers, wanted.containers) }
  if (spec.initContainers !== undefined) {
    next.initContainers = withResources(spec.initContainers, wanted.initContainers ?? [])
  }
  if (wanted.resources === undefined) delete next.resources
  else next.resources = wanted.resources
  pod.spec = next
}

/** The present containers with the wanted resources; reordered or renamed ones are left for validation to refuse. */
function withResources(current: readonly Container[], wanted: readonly Container[]): Container[] {
  if (current.some((container, index) => container.name !== wanted[index]?.name)) return [...wanted]
  return current.map((container, index) => {
    const next = { ...container }
    const { resources, resizePolicy } = wanted[index] ?? {}
    if (resources === undefined) delete next.resources
    else next.resources = resources
    if (resizePolicy === undefined) delete next.resizePolicy
    else next.resizePolicy = resizePolicy
    return next
  })
}

export function validateResize(pod: Pod, current: Pod): FieldError[] {
  const root = FieldPath.root("")
  if (current.metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined) {
    return [forbiddenField(root, "static pods cannot be resized")]
  }
  if (current.spec?.os?.name === "windows") return [forbiddenField(root, "windows pods cannot be resized")]
  const spec = pod.spec ?? { containers: [] }
  const before = current.spec ?? { containers: [] }
  const errors: FieldError[] = []
  if ((current.status?.qosClass ?? qosClass(before)) !== qosClass(spec)) {
    errors.push(invalidValue(path, pod.status?.qosClass ?? "", "Pod QOS Class may not change as a result of resizing"))
  }
  const order = validateOrder(spec, before)
  if (order.length > 0) return [...errors, ...order]
  for (const list of ["initContainers", "containers"] as const) {
    for (const [index, container] of (before[list] ?? []).entries()) {
      const at = path.child(list).index(index).child("resources")
      errors.push(...validateContainer(at, spec[list]?.[index], container))
    }
  }
  return errors
}

function validateOrder(spec: PodSpec, current: PodSpec): FieldError[] {
  return (["containers", "initContainers"] as const).flatMap((list) => {
    const [containers, before] = [spec[list] ?? [], current[list] ?? []]
    if (containers.length !== before.length) {
      return [forbiddenField(path.child(list), `${list} may not be added or removed on resize`)]
    }
    return before.flatMap((container, index) =>
      containers[index]?.name === container.name
        ? []
        : [
            forbiddenField(
              path.child(list).index(index).child("name"),
              `${list} may not be renamed or reordered on resize`,
            ),
          ],
    )
  })
}

function validateContainer(at: FieldPath, container: Container | undefined, current: Container): FieldError[] {
  const errors: FieldError[] = []
  for (const kind of ["requests", "limits"] as const) {
    const wanted = (container?.resources?.[kind] ?? {}) as ResourceList
    const before = (current.resources?.[kind] ?? {}) as ResourceList
    if (Object.keys(before).some((name) => !Object.hasOwn(wanted, name))) {
      errors.push(forbiddenField(at.child(kind), `resource ${kind} cannot be removed`))
    } else if (!semanticEqual(withoutCompute(wanted), withoutCompute(before))) {
      errors.push(forbiddenField(path, "only cpu and memory resources are mutable"))
    }
  }
  return errors
}

function withoutCompute(list: ResourceList): ResourceList {
  return Object.fromEntries(Object.entries(list).filter(([name]) => name !== "cpu" && name !== "memory"))
}
