// What makes a StatefulSet's pod the pod of its ordinal: name, labels, host name, claims. Pure.
// Source: k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_utils.go.

import { byName } from "../../apimachinery/repeats.ts"
import type { PersistentVolumeClaim, Pod, PodTemplateSpec, StatefulSet } from "../../apimachinery/object.ts"
import { revisionHashLabel } from "../history/revisions.ts"
import { controllerReference, podFromTemplate } from "../pods/pod-control.ts"

export const statefulSetKind = { apiVersion: "apps/v1", kind: "StatefulSet" } as const

const podNameLabel = "statefulset.kubernetes.io/pod-name"
const podIndexLabel = "apps.kubernetes.io/pod-index"

export const replicasOf = (set: StatefulSet): number => set.spec?.replicas ?? 1
export const startOf = (set: StatefulSet): number => set.spec?.ordinals?.start ?? 0

/** undefined: not a name the set gives. */
export function ordinalOf(set: StatefulSet, pod: Pod): number | undefined {
  const prefix = `${set.metadata.name ?? ""}-`
  const { name = "" } = pod.metadata
  const tail = name.slice(prefix.length)
  return name.startsWith(prefix) && /^(0|[1-9][0-9]*)$/.test(tail) ? Number(tail) : undefined
}

export function isInRange(set: StatefulSet, ordinal: number): boolean {
  return ordinal >= startOf(set) && ordinal < startOf(set) + replicasOf(set)
}

export function revisionNameOf(pod: Pod): string {
  return pod.metadata.labels?.[revisionHashLabel] ?? ""
}

export function podOf(
  set: StatefulSet,
  template: PodTemplateSpec | undefined,
  revisionName: string,
  ordinal: number,
): Pod {
  const name = `${set.metadata.name ?? ""}-${ordinal}`
  const pod = podFromTemplate(template, set, controllerReference(set, statefulSetKind), name)
  pod.metadata.labels = { ...pod.metadata.labels, [revisionHashLabel]: revisionName }
  // Not used, as there is a name; upstream's pods have it.
  pod.metadata.generateName = `${set.metadata.name ?? ""}-`
  const serviceName = set.spec?.serviceName
  const spec = {
    ...pod.spec,
    hostname: name,
    ...(serviceName === undefined || serviceName === "" ? {} : { subdomain: serviceName }),
  }
  return withIdentity(set, { ...pod, spec } as Pod, ordinal)
}

/** The same pod with the labels and volumes of its ordinal; the pod itself when it has them. */
export function withIdentity(set: StatefulSet, pod: Pod, ordinal: number): Pod {
  if (hasIdentity(set, pod, ordinal)) return pod
  const labels = {
    ...pod.metadata.labels,
    [podNameLabel]: pod.metadata.name ?? "",
    [podIndexLabel]: String(ordinal),
  }
  const claims = claimNames(set, ordinal)
  const others = (pod.spec?.volumes ?? []).filter(({ name }) => !claims.has(name))
  const volumes = [...claims].map(([name, claimName]) => ({ name, persistentVolumeClaim: { claimName } }))
  const spec = claims.size === 0 ? pod.spec : { ...pod.spec, volumes: [...others, ...volumes] }
  return { ...pod, metadata: { ...pod.metadata, labels }, spec } as Pod
}

export function hasIdentity(set: StatefulSet, pod: Pod, ordinal: number): boolean {
  if (pod.metadata.labels?.[podNameLabel] !== pod.metadata.name) return false
  const volumes = byName(pod.spec?.volumes ?? [])
  for (const [name, claim] of claimNames(set, ordinal)) {
    const volume = volumes.get(name)
    if (volume?.persistentVolumeClaim?.claimName !== claim) return false
  }
  return true
}

/** Volume name → claim name. */
function claimNames(set: StatefulSet, ordinal: number): Map<string, string> {
  return new Map(
    (set.spec?.volumeClaimTemplates ?? []).map((template) => {
      const { name = "" } = template.metadata ?? {}
      return [name, `${name}-${set.metadata.name ?? ""}-${ordinal}`]
    }),
  )
}

export function claimsOf(set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
  const names = claimNames(set, ordinal)
  return (set.spec?.volumeClaimTemplates ?? []).map((template) => {
    const { name = "", labels, annotations } = template.metadata ?? {}
    return {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        name: names.get(name) ?? "",
        namespace: set.metadata.namespace ?? "",
        labels: { ...labels, ...set.spec?.selector.matchLabels },
        ...(annotations === undefined ? {} : { annotations }),
      },
      ...(template.spec === undefined ? {} : { spec: template.spec }),
    }
  })
}
