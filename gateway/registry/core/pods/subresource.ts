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

/** Keeps the current metadata and status, except managedFields, resourceVersion, and generateName, which upstream forgets to keep. */
export function resetForSubresource(pod: Pod, current: Pod): void {
  const { managedFields, resourceVersion, generateName } = pod.metadata
  pod.metadata = copyJson(current.metadata)
  if (managedFields !== undefined) pod.metadata.managedFields = managedFields
  if (resourceVersion !== undefined) pod.metadata.resourceVersion = resourceVersion
  if (generateName === undefined) delete pod.metadata.generateName
  else pod.metadata.generateName = generateName
  if (current.status === undefined) delete pod.status
  else pod.status = current.status
}
