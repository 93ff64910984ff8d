// What deleting does to an object of a fake cluster: it goes at once, or stays until its finalizers, or its kubelet, are done.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { DeleteOptions, Resource } from "../rest.ts"

interface Deletion {
  /** As if kubelets were at work: pods that have a node get their grace period. */
  isPopulated: boolean
  /** As the object tells it. */
  now: string
}

/** undefined: nothing. The same object: it was on its way already. */
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
  if (object.metadata.deletionTimestamp !== undefined) return object
  return {
    ...object,
    metadata: {
      ...object.metadata,
      deletionTimestamp: now,
      ...(graceSeconds > 0 ? { deletionGracePeriodSeconds: graceSeconds } : {}),
      ...(finalizers.length === 0 ? {} : { finalizers }),
    },
    ...(resource.resource === "namespaces" ? { status: { phase: "Terminating" } } : {}),
  }
}

/** How long a kubelet has to end it. */
function graceSecondsOf({ resource }: Resource, object: KubeObject, { gracePeriodSeconds }: DeleteOptions): number {
  const { nodeName = "", terminationGracePeriodSeconds = 30 } = (object["spec"] ?? {}) as {
    nodeName?: string
    terminationGracePeriodSeconds?: number
  }
  return resource !== "pods" || nodeName === "" ? 0 : (gracePeriodSeconds ?? terminationGracePeriodSeconds)
}
