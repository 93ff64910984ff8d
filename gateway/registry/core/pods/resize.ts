// pods/resize: changes cpu and memory of containers in place. Source: k8s.io/kubernetes/pkg/apis/core/validation ValidatePodResize.

import { type FieldError, FieldPath, forbiddenField, invalidValue } from "../../../../apimachinery/field-errors.ts"
import type { Container, Pod, PodSpec } from "../../../../apimachinery/object.ts"
import type { SubresourceHandler } from "../../strategy.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { qosClass } from "../pod-spec/qos.ts"
import type { ResourceList } from "../pod-spec/types.ts"
import { isMirror } from "../../../../apimachinery/core/mirror-pods.ts"
import { podSubresource, resetForSubresource } from "./subresource.ts"

export const resize: SubresourceHandler = podSubresource("resize")

const path = FieldPath.root("spec")
const onlyCompute = "only cpu and memory resources are mutable"

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

/**
 * The current containers with the desired resources. Reordered or renamed containers are returned unchanged, and validation rejects
 * them.
 */
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

/** Of a pod that cannot be resized at all; nothing else of it is validated. */
export function refuseResize({ metadata, spec }: Pod): FieldError[] {
  const root = FieldPath.root("")
  if (isMirror(metadata)) return [forbiddenField(root, "static pods cannot be resized")]
  return spec?.os?.name === "windows" ? [forbiddenField(root, "windows pods cannot be resized")] : []
}

/** `faults`: those that the pod has apart from the resize. */
export function validateResize(pod: Pod, current: Pod, faults: readonly FieldError[]): FieldError[] {
  const spec = pod.spec ?? { containers: [] }
  const before = current.spec ?? { containers: [] }
  const errors: FieldError[] = []
  if ((current.status?.qosClass ?? qosClass(before)) !== qosClass(spec)) {
    errors.push(invalidValue(path, pod.status?.qosClass ?? "", "Pod QOS Class may not change as a result of resizing"))
  }
  if (!isSupported(current)) errors.push(forbiddenField(path, "Pod running on node without support for resize"))
  if (isSet(spec.resources) || isSet(before.resources)) errors.push(...validatePodLevel(spec, before))
  const order = validateOrder(spec, before)
  if (order.length > 0) return [...errors, ...order]
  for (const list of ["initContainers", "containers"] as const) {
    for (const [index, container] of (before[list] ?? []).entries()) {
      const at = path.child(list).index(index).child("resources")
      errors.push(...validateKept(at, "resource", spec[list]?.[index]?.resources, container.resources))
    }
  }
  errors.push(...validateContainers(spec, before), ...validateInitContainers(spec, before))
  if (faults.length > 0 || errors.length > 0 || isSet(spec.resources) || isSet(before.resources)) return errors
  return semanticEqual(spec.resources, before.resources) ? [] : [forbiddenField(path, onlyCompute)]
}

/** A node that does not report the resources of running containers does not support resizing. */
function isSupported({ status }: Pod): boolean {
  const running = (status?.containerStatuses ?? []).find(({ state }) => state?.running !== undefined)
  return running === undefined || running.resources !== undefined
}

type Resources = PodSpec["resources"]

function isSet(resources: Resources): boolean {
  return Object.keys({ ...resources?.requests, ...resources?.limits }).length > 0
}

function validatePodLevel({ resources }: PodSpec, { resources: before }: PodSpec): FieldError[] {
  const at = path.child("resources")
  if (before !== undefined && resources === undefined)
    return [forbiddenField(at, "pod-level resources cannot be removed")]
  const errors = before === undefined ? [] : validateKept(at, "pod-level resource", resources, before)
  return isSameButCompute(resources, before) && semanticEqual(resources?.claims, before?.claims)
    ? errors
    : [...errors, forbiddenField(path, "only cpu and memory resources are mutable at pod-level")]
}

function validateContainers(spec: PodSpec, before: PodSpec): FieldError[] {
  return spec.containers.flatMap((container, index) =>
    isResized(container, before.containers[index]) ? [] : [forbiddenField(path, onlyCompute)],
  )
}

function validateInitContainers(spec: PodSpec, before: PodSpec): FieldError[] {
  return (spec.initContainers ?? []).flatMap((container, index) => {
    const current = before.initContainers?.[index]
    const at = path.child("initContainers").index(index)
    const errors = isResized(container, current)
      ? []
      : [forbiddenField(at, "only cpu and memory resources for init or sidecar containers are mutable")]
    if (container.restartPolicy === "Always" || semanticEqual(container, current)) return errors
    const restarts = (container.resizePolicy ?? []).filter(({ restartPolicy }) => restartPolicy === "RestartContainer")
    const text = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
    return [...errors, ...restarts.map(() => forbiddenField(at, text))]
  })
}

/** Whether only cpu and memory differ. */
function isResized(container: Container, current: Container | undefined): boolean {
  const withoutResources = (of: Container | undefined): object => ({ ...of, resources: undefined })
  return (
    semanticEqual(withoutResources(container), withoutResources(current)) &&
    isSameButCompute(container.resources, current?.resources) &&
    // As upstream, containers with resource claims cannot be resized.
    (current?.resources?.claims ?? []).length === 0
  )
}

function isSameButCompute(resources: Resources, before: Resources): boolean {
  return (["requests", "limits"] as const).every((kind) =>
    semanticEqual(withoutCompute(resources?.[kind]), withoutCompute(before?.[kind])),
  )
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

/** Requests and limits may not be removed. */
function validateKept(at: FieldPath, word: string, resources: Resources, before: Resources): FieldError[] {
  return (["requests", "limits"] as const).flatMap((kind) => {
    const wanted = resources?.[kind] ?? {}
    const isKept = Object.keys(before?.[kind] ?? {}).every((name) => Object.hasOwn(wanted, name))
    return isKept ? [] : [forbiddenField(at.child(kind), `${word} ${kind} cannot be removed`)]
  })
}

function withoutCompute(list: ResourceList = {}): ResourceList {
  return Object.fromEntries(Object.entries(list).filter(([name]) => name !== "cpu" && name !== "memory"))
}
