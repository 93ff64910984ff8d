// Rollback by annotation: the API converts the rollbackTo field of extensions/v1beta1 to it, and the controller still honours it.
// Pure. Source: k8s.io/kubernetes/pkg/controller/deployment/rollback.go.

import type { Deployment, ReplicaSet } from "../../apimachinery/object.ts"
import { isCopied, numberIn, revisionOf, rollbackAnnotation } from "./annotations.ts"
import { sameTemplate, templateHashLabel } from "./template.ts"

interface Rollback {
  /** Always without the rollback annotation. */
  deployment: Deployment
  type: "Normal" | "Warning"
  reason: string
  message: string
}

/** The requested revision: 0 is the one before the newest. */
export const askedRevision = (deployment: Deployment): bigint | undefined => numberIn(deployment, rollbackAnnotation)

export function rollBack(deployment: Deployment, sets: readonly ReplicaSet[], asked: bigint): Rollback {
  const revision = asked === 0n ? lastRevision(sets) : asked
  const notFound = { type: "Warning", reason: "DeploymentRollbackRevisionNotFound" } as const
  if (revision === 0n)
    return { ...notFound, deployment: answered(deployment), message: "Unable to find last revision." }
  const set = sets.find((candidate) => revisionOf(candidate) === revision)
  if (set === undefined) {
    const message = "Unable to find the revision to rollback to."
    return { ...notFound, deployment: answered(deployment), message }
  }
  const { name = "" } = deployment.metadata
  if (sameTemplate(set.spec?.template, deployment.spec?.template)) {
    const message = `The rollback revision contains the same template as current deployment "${name}"`
    return { deployment: answered(deployment), type: "Warning", reason: "DeploymentRollbackTemplateUnchanged", message }
  }
  const message = `Rolled back deployment "${name}" to revision ${revision}`
  return { deployment: answered(asIn(deployment, set)), type: "Normal", reason: "DeploymentRollback", message }
}

/** The second highest revision, at least 0. */
function lastRevision(sets: readonly ReplicaSet[]): bigint {
  const revisions = sets.map(revisionOf).sort((a, b) => (a > b ? -1 : a < b ? 1 : 0))
  const last = revisions[1] ?? 0n
  return last < 0n ? 0n : last
}

/** Also restores the annotations: otherwise the ReplicaSet would get those of the template that is rolled back. */
function asIn(deployment: Deployment, set: ReplicaSet): Deployment {
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !isCopied(key))
  const sets = Object.entries(set.metadata.annotations ?? {}).filter(([key]) => isCopied(key))
  const { metadata, ...rest } = set.spec?.template ?? {}
  const { [templateHashLabel]: _, ...labels } = metadata?.labels ?? {}
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: Object.fromEntries([...own, ...sets]) },
    spec: { ...deployment.spec, template: { ...rest, metadata: { ...metadata, labels } } } as Deployment["spec"] & {},
  }
}

function answered(deployment: Deployment): Deployment {
  const { [rollbackAnnotation]: _, ...annotations } = deployment.metadata.annotations ?? {}
  return { ...deployment, metadata: { ...deployment.metadata, annotations } }
}
