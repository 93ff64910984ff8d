// Finds the new ReplicaSet of a Deployment: the one with the same template.

import type { Deployment, PodTemplateSpec, ReplicaSet } from "../../apimachinery/object.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { schemaOf } from "../../apimachinery/schema/facts.ts"
import { withTextsOf } from "../../apimachinery/schema/quantities.ts"

export const templateHashLabel = "pod-template-hash"

export function sameTemplate(a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean {
  return equalIgnoringNulls(metadataOf(a), metadataOf(b)) && sameSpec(a?.spec, b?.spec)
}

/** The same amounts may have different texts. */
function sameSpec(a: PodTemplateSpec["spec"], b: PodTemplateSpec["spec"]): boolean {
  if (equalIgnoringNulls(a, b)) return true
  const schema = schemaOf({ group: "", version: "v1", kind: "Pod" })
  if (schema === undefined) throw new Error("the schema of Pods is not known")
  return equalIgnoringNulls(a, withTextsOf({ spec: a }, { spec: b }, schema).spec)
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
