// Warnings on writes of workloads: about the name, which becomes part of the pods' names, and about the template. Source:
// WarningsOnCreate and WarningsOnUpdate of k8s.io/kubernetes/pkg/registry/{apps,batch,core}.

import type { FieldPath } from "../../../apimachinery/field-errors.ts"
import { validateDNS1123Label } from "../../../apimachinery/names.ts"
import type { Job, KubeObject, PodTemplateSpec } from "../../../apimachinery/object.ts"
import { podWarnings } from "../core/pod-spec/warnings.ts"

/** Names that are not DNS labels work, but not in all places where the names of pods are used. */
export function podNameWarnings(object: KubeObject, current: KubeObject | undefined): string[] {
  const faults = current === undefined ? validateDNS1123Label(object.metadata.name ?? "") : []
  return faults.length === 0
    ? []
    : [
        `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${faults.join(" ")}]`,
      ]
}

/** No warnings for updates that do not change the desired state. */
export function templateWarnings(
  path: FieldPath,
  template: PodTemplateSpec | undefined,
  object: KubeObject,
  current: KubeObject | undefined,
): string[] {
  if (template?.spec === undefined || !isWanted(object, current)) return []
  return podWarnings(path, template.spec, template.metadata?.annotations)
}

function isWanted(object: KubeObject, current: KubeObject | undefined): boolean {
  return current === undefined || current.metadata.generation !== object.metadata.generation
}

const maxCompletions = 100_000
const maxParallelism = 10_000

/** `path`: that of the job's spec. */
export function jobWarnings(
  path: FieldPath,
  spec: Job["spec"],
  object: KubeObject,
  current: KubeObject | undefined,
): string[] {
  const { completionMode, completions = 0, parallelism = 0 } = spec ?? {}
  const isLarge = completionMode === "Indexed" && completions > maxCompletions && parallelism > maxParallelism
  return [
    ...(isLarge && isWanted(object, current)
      ? [
          `${String(path)}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
        ]
      : []),
    ...templateWarnings(path.child("template"), spec?.template, object, current),
  ]
}
