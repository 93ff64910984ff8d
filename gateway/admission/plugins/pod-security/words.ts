// Formats violations for messages. Source: k8s.io/pod-security-admission/policy/helpers.go.

import type { Container, ObjectMeta, PodSpec } from "../../../../apimachinery/object.ts"

/** A pod or a pod template. */
export interface CheckedPod {
  metadata: Pick<ObjectMeta, "annotations">
  spec: PodSpec
}

/** A violation: the reason, and the violating parts of the pod. */
export interface Fault {
  reason: string
  detail: string
}

export type Check = (pod: CheckedPod) => Fault | undefined

/** All containers of the three kinds, in the order of messages. */
export function containersOf({ initContainers = [], containers, ephemeralContainers = [] }: PodSpec): Container[] {
  return [...initContainers, ...containers, ...ephemeralContainers]
}

/** The names of the containers that satisfy the predicate. */
export function containersThat({ spec }: CheckedPod, holds: (container: Container) => boolean): string[] {
  return containersOf(spec)
    .filter(holds)
    .map(({ name }) => name)
}

export function plural(word: string, count: number): string {
  return count === 1 ? word : `${word}s`
}

export function quoted(items: Iterable<string>): string {
  return Array.from(items, (item) => `"${item}"`).join(", ")
}

/** `containers "a", "b"` */
export function named(word: string, names: readonly string[]): string {
  return `${plural(word, names.length)} ${quoted(names)}`
}

/** `pod and container "a"`; "" if there are none. */
export function setters(isPod: boolean, containers: readonly string[]): string {
  return [...(isPod ? ["pod"] : []), ...(containers.length === 0 ? [] : [named("container", containers)])].join(" and ")
}

export function sorted(values: Iterable<string>): string[] {
  return [...new Set(values)].sort()
}

/** Fewer restrictions apply to Windows pods. */
export function isOfWindows({ spec }: CheckedPod): boolean {
  return spec.os?.name === "windows"
}

/** Root in the pod's user namespace is unprivileged on the node. */
export function hasOwnUsers({ spec }: CheckedPod): boolean {
  return spec.hostUsers === false
}
