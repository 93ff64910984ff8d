// pods/ephemeralcontainers: containers can be added to a running pod, but not removed or changed.

import { type FieldError, FieldPath, forbiddenField } from "../../../../apimachinery/field-errors.ts"
import type { Pod } from "../../../../apimachinery/object.ts"
import type { SubresourceHandler } from "../../strategy.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { isMirror } from "../../../../apimachinery/core/mirror-pods.ts"
import { podSubresource, resetForSubresource } from "./subresource.ts"

export const ephemeralContainers: SubresourceHandler = podSubresource("ephemeralcontainers")

export function dropUnlessEphemeral(pod: Pod, current: Pod): void {
  const wanted = pod.spec?.ephemeralContainers
  resetForSubresource(pod, current)
  pod.spec = { ...(current.spec ?? { containers: [] }) }
  if (wanted === undefined) delete pod.spec.ephemeralContainers
  else pod.spec.ephemeralContainers = wanted
}

/** Of a pod that cannot have any; nothing else of it is validated. */
export function refuseEphemeral({ metadata }: Pod): FieldError[] {
  return isMirror(metadata)
    ? [forbiddenField(FieldPath.root(""), "static pods do not support ephemeral containers")]
    : []
}

export function validateEphemeralUpdate(pod: Pod, current: Pod): FieldError[] {
  const path = FieldPath.root("spec", "ephemeralContainers")
  const wanted = new Map((pod.spec?.ephemeralContainers ?? []).map((container) => [container.name, container]))
  return (current.spec?.ephemeralContainers ?? []).flatMap((old) => {
    const container = wanted.get(old.name)
    if (container === undefined) {
      return [forbiddenField(path, `existing ephemeral containers "${old.name}" may not be removed\n`)]
    }
    return semanticEqual(container, old)
      ? []
      : [forbiddenField(path, `existing ephemeral containers "${old.name}" may not be changed\n`)]
  })
}
