// Subresources of a pod that return the complete pod and modify a part of it.

import { copyJson } from "../../../../apimachinery/copy.ts"
import type { KubeObject, Pod } from "../../../../apimachinery/object.ts"
import type { SubresourceHandler } from "../../strategy.ts"

/** The strategy finds the subresource in the request info. */
export function podSubresource(name: string): SubresourceHandler {
  return {
    async get(ctx, registry, namespace, podName) {
      return (await registry.get(ctx, namespace, podName)).object()
    },
    async update(ctx, registry, namespace, podName, change, options, admit) {
      const result = await registry.update(
        ctx,
        namespace,
        podName,
        (current) => change(current as KubeObject),
        { ...options, subresource: name },
        admit,
      )
      return result.value.object()
    },
  }
}

/** Of these, the request's are kept. All but the first may not change, which is checked later. */
const ofRequest = [
  "managedFields",
  "resourceVersion",
  "uid",
  "creationTimestamp",
  "deletionGracePeriodSeconds",
] as const

/** Keeps the current metadata and status, except these fields, and generateName, which upstream forgets to keep. */
export function resetForSubresource(pod: Pod, current: Pod): void {
  const { metadata: given } = pod
  const kept = Object.fromEntries(
    ofRequest.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  )
  pod.metadata = { ...copyJson(current.metadata), ...kept }
  if (given.generateName === undefined) delete pod.metadata.generateName
  else pod.metadata.generateName = given.generateName
  if (current.status === undefined) delete pod.status
  else pod.status = current.status
}
