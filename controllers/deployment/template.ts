// Finds the new ReplicaSet of a Deployment: the one with the same template.

import type { Deployment, PodTemplateSpec, ReplicaSet } from "../../apimachinery/object.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { equalByAmounts } from "../../apimachinery/schema/quantities.ts"

const pod = { group: "", version: "v1", kind: "Pod" }
export const templateHashLabel = "pod-template-hash"

export function sameTemplate(a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean {
  const [spec, other] = [{ spec: a?.spec }, { spec: b?.spec }]
  return equalIgnoringNulls(metadataOf(a), metadataOf(b)) && equalByAmounts(spec, other, pod)
}

function metadataOf(template: PodTemplateSpec | undefined): object {
  const { labels = {}, ...others } = template?.metadata ?? {}
  const { [templateHashLabel]: _, ...rest } = labels
  return { ...others, labels: rest }
}

export function byCreation(a: ReplicaSet, b: ReplicaSet): number {
  const left = a.metadata.creationTimestamp ?? ""
  const right = b.metadata.creationTimestamp ?? ""
  if (left !== right) return left < right ? -1 : 1
  return (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1
}

/** The oldest one if there are several, as upstream. */
export function newReplicaSetOf(deployment: Deployment, all: readonly ReplicaSet[]): ReplicaSet | undefined {
  return [...all].sort(byCreation).find((set) => sameTemplate(set.spec?.template, deployment.spec?.template))
}
