// Deletion in a fake cluster: an object is deleted at once, or remains until its finalizers are removed or its kubelet has ended
// it.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { DeleteOptions, Resource } from "../rest.ts"

interface Deletion {
  /** Behaves as if kubelets were running: pods with a node get their grace period. */
  isPopulated: boolean
  /** The format of deletionTimestamp. */
  now: string
}

/** Returns the object as it remains, or undefined if it is deleted. The same object: its deletion was already in progress. */
export function leftOf(
  resource: Resource,
  object: KubeObject,
  options: DeleteOptions,
  { isPopulated, now }: Deletion,
): KubeObject | undefined {
  const { propagationPolicy = "Background" } = options
  const policy = { Foreground: ["foregroundDeletion"], Orphan: ["orphan"], Background: [] }[propagationPolicy]
  const finalizers = [...new Set([...(object.metadata.finalizers ?? []), ...policy])]
  const { finalizers: ofNamespace } = (object["spec"] ?? {}) as { finalizers?: string[] }
  const graceSeconds = isPopulated ? graceSecondsOf(resource, object, options) : 0
  if (finalizers.length === 0 && ofNamespace === undefined && graceSeconds === 0) return undefined
  const { deletionTimestamp, deletionGracePeriodSeconds: given = 0 } = object.metadata
  if (deletionTimestamp !== undefined) {
    // A later delete can only shorten the time.
    if (graceSeconds >= given) return object
    return { ...object, metadata: { ...object.metadata, deletionGracePeriodSeconds: graceSeconds } }
  }
  return {
    ...object,
    metadata: {
      ...object.metadata,
      deletionTimestamp: now,
      deletionGracePeriodSeconds: graceSeconds,
      ...(finalizers.length === 0 ? {} : { finalizers }),
    },
    ...(resource.resource === "namespaces" ? { status: { phase: "Terminating" } } : {}),
  }
}

/** The kubelet's time to end the pod. */
function graceSecondsOf({ resource }: Resource, object: KubeObject, { gracePeriodSeconds }: DeleteOptions): number {
  const { nodeName = "", terminationGracePeriodSeconds = 30 } = (object["spec"] ?? {}) as {
    nodeName?: string
    terminationGracePeriodSeconds?: number
  }
  return resource !== "pods" || nodeName === "" ? 0 : (gracePeriodSeconds ?? terminationGracePeriodSeconds)
}
