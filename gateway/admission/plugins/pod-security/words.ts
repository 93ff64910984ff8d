// How checks say who is at fault. Source: k8s.io/pod-security-admission/policy/helpers.go.

import type { Container, ObjectMeta, PodSpec } from "../../../../apimachinery/object.ts"

/** What is checked: a pod, or the template of one. */
export interface CheckedPod {
  metadata: Pick<ObjectMeta, "annotations">
  spec: PodSpec
}

/** Why a pod is not allowed: in a word, and with who is at fault. */
export interface Fault {
  reason: string
  detail: string
}

export type Check = (pod: CheckedPod) => Fault | undefined

/** Of all three kinds, in the order in which they are told. */
export function containersOf({ initContainers = [], containers, ephemeralContainers = [] }: PodSpec): Container[] {
  return [...initContainers, ...containers, ...ephemeralContainers]
}

/** Names of the containers of which it holds. */
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

/** `pod and container "a"`; "" for nobody. */
export function setters(isPod: boolean, containers: readonly string[]): string {
  return [...(isPod ? ["pod"] : []), ...(containers.length === 0 ? [] : [named("container", containers)])].join(" and ")
}

export function sorted(values: Iterable<string>): string[] {
  return [...new Set(values)].sort()
}

/** Such a pod is held by less on its node. */
export function isOfWindows({ spec }: CheckedPod): boolean {
  return spec.os?.name === "windows"
}

/** Its root is nobody on the node. */
export function hasOwnUsers({ spec }: CheckedPod): boolean {
  return spec.hostUsers === false
}
