// Annotations that a Deployment sets on its ReplicaSets. Pure: returns the changed annotations, or undefined if nothing differs.
// Source: k8s.io/kubernetes/pkg/controller/deployment/util/deployment_util.go.

import type { Deployment, KubeObject, ReplicaSet } from "../../apimachinery/object.ts"

export const revisionAnnotation = "deployment.kubernetes.io/revision"
export const rollbackAnnotation = "deprecated.deployment.rollback.to"
const revisionHistoryAnnotation = "deployment.kubernetes.io/revision-history"
const historyCharacters = 2000

const notCopied = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  revisionAnnotation,
  revisionHistoryAnnotation,
  "deployment.kubernetes.io/desired-replicas",
  "deployment.kubernetes.io/max-replicas",
  rollbackAnnotation,
])

/** Whether the annotation is copied from a Deployment to its ReplicaSets. */
export const isCopied = (key: string): boolean => !notCopied.has(key)

type Annotations = Record<string, string>

/** An int64, parsed like upstream; undefined if it is invalid. */
export function numberIn({ metadata }: KubeObject, annotation: string): bigint | undefined {
  const text = metadata.annotations?.[annotation] ?? ""
  const number = /^[+-]?\d{1,20}$/.test(text) ? BigInt(text.replace(/^\+/, "")) : undefined
  return number === undefined || number === BigInt.asIntN(64, number) ? number : undefined
}

export const revisionOf = (object: KubeObject): bigint => numberIn(object, revisionAnnotation) ?? 0n

/** The one after the highest, with 64 bits: a set may be said to have the highest of all. */
export function nextRevision(sets: readonly ReplicaSet[]): bigint {
  const highest = sets.map(revisionOf).reduce((one, other) => (other > one ? other : one), 0n)
  return BigInt.asIntN(64, highest + 1n)
}

/** An int32 that is not negative, parsed like upstream; undefined if it is invalid. */
export function countIn({ metadata }: KubeObject, annotation: string): number | undefined {
  const text = metadata.annotations?.[annotation] ?? ""
  const count = /^\d+$/.test(text) ? Number(text) : undefined
  return count !== undefined && count < 2 ** 31 ? count : undefined
}

/** false: the annotation is no number. Upstream leaves it as it is, and writes no annotations for their own sake. */
export function hasReadableRevision(set: ReplicaSet): boolean {
  const text = set.metadata.annotations?.[revisionAnnotation] ?? ""
  return text === "" || numberIn(set, revisionAnnotation) !== undefined
}

/** The new ReplicaSet has the Deployment's annotations and the highest revision. */
export function newSetAnnotations(deployment: Deployment, set: ReplicaSet | undefined, revision: bigint): Annotations {
  const present = set?.metadata.annotations ?? {}
  const text = present[revisionAnnotation] ?? ""
  const annotations: Annotations = { ...present }
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (isCopied(key)) annotations[key] = value
  }
  const before = set === undefined ? 0n : revisionOf(set)
  if (before >= revision || (set !== undefined && !hasReadableRevision(set))) return annotations
  annotations[revisionAnnotation] = String(revision)
  if (present[revisionAnnotation] === undefined) return annotations
  // The set had another revision, so this is a rollback. The old revisions are kept in the history annotation.
  const history = (present[revisionHistoryAnnotation] ?? "").split(",")
  annotations[revisionHistoryAnnotation] = history[0] === "" ? text : newest([...history, text]).join(",")
  return annotations
}

/** The newest entries that fit, but at least one. */
function newest(history: readonly string[]): readonly string[] {
  let [first, characters] = [history.length - 1, history.at(-1)?.length ?? 0]
  while (first > 0) {
    characters += 1 + (history[first - 1]?.length ?? 0)
    if (characters > historyCharacters) break
    first--
  }
  return history.slice(Math.max(first, 0))
}
