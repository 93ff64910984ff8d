// The identity of a StatefulSet's pod, derived from its ordinal: name, labels, host name, claims. Pure.
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

/** Whether the pod's name is that of the set and a number, even one that is no ordinal: only such pods are adopted. */
export const isMember = (set: StatefulSet, pod: Pod): boolean => numberIn(set, pod.metadata.name ?? "") !== undefined

/** undefined if the name is not one of the set's; numbers beyond 32 bits are no ordinals. */
export const ordinalOf = (set: StatefulSet, pod: Pod): number | undefined => ordinalIn(set, pod.metadata.name ?? "")

function ordinalIn(set: StatefulSet, name: string): number | undefined {
  const number = Number(numberIn(set, name) ?? NaN)
  return number < 2 ** 31 ? number : undefined
}

function numberIn(set: StatefulSet, name: string): string | undefined {
  const prefix = `${set.metadata.name ?? ""}-`
  const tail = name.slice(prefix.length)
  return name.startsWith(prefix) && /^(0|[1-9][0-9]*)$/.test(tail) ? tail : undefined
}

/** By "namespace/name" without the ordinal, the claims of the set. */
export const claimPrefixes = ({ metadata, spec }: StatefulSet): string[] =>
  (spec?.volumeClaimTemplates ?? []).map(
    ({ metadata: template }) => `${metadata.namespace ?? ""}/${template?.name ?? ""}-${metadata.name ?? ""}`,
  )

/** Among those, that of the sets that may use this claim. */
export const claimPrefix = ({ metadata: { namespace = "", name = "" } }: PersistentVolumeClaim): string =>
  `${namespace}/${name.slice(0, Math.max(0, name.lastIndexOf("-")))}`

/** The name of the pod that uses this claim; undefined if the claim is not one of the set's. */
export function podUsing(set: StatefulSet, claim: string): string | undefined {
  for (const { metadata } of set.spec?.volumeClaimTemplates ?? []) {
    const prefix = `${metadata?.name ?? ""}-`
    const pod = claim.slice(prefix.length)
    if (claim.startsWith(prefix) && ordinalIn(set, pod) !== undefined) return pod
  }
  return undefined
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
  // Has no effect, because name is set; upstream's pods have it as well.
  pod.metadata.generateName = `${set.metadata.name ?? ""}-`
  // Instead of the template's, also if the set has no service.
  const { subdomain: _, ...others } = pod.spec ?? {}
  const { serviceName = "" } = set.spec ?? {}
  const spec = { ...others, hostname: name, ...(serviceName === "" ? {} : { subdomain: serviceName }) }
  return withStorage(set, withIdentity({ ...pod, spec } as Pod, ordinal), ordinal)
}

/** The ordinal was parsed from the name, so only the label can be wrong. */
export const hasIdentity = (pod: Pod): boolean => pod.metadata.labels?.[podNameLabel] === pod.metadata.name

/** Returns the pod with the labels of its ordinal. */
export function withIdentity(pod: Pod, ordinal: number): Pod {
  const labels = {
    ...pod.metadata.labels,
    [podNameLabel]: pod.metadata.name ?? "",
    [podIndexLabel]: String(ordinal),
  }
  return { ...pod, metadata: { ...pod.metadata, labels } }
}

/** Whether the pod's volumes refer to the claims of its ordinal, as far as the set has claim templates. */
export function hasStorage(set: StatefulSet, pod: Pod, ordinal: number): boolean {
  const volumes = byName(pod.spec?.volumes ?? [])
  for (const [name, claim] of claimNames(set, ordinal)) {
    const volume = volumes.get(name)
    if (volume?.persistentVolumeClaim?.claimName !== claim) return false
  }
  return true
}

/** Returns the pod with the claims of its ordinal as volumes, which replace volumes of the same names. */
export function withStorage(set: StatefulSet, pod: Pod, ordinal: number): Pod {
  const claims = claimNames(set, ordinal)
  if (claims.size === 0) return pod
  const volumes = [...claims].map(([name, claimName]) => ({ name, persistentVolumeClaim: { claimName } }))
  const others = (pod.spec?.volumes ?? []).filter(({ name }) => !claims.has(name))
  return { ...pod, spec: { ...pod.spec, volumes: [...volumes, ...others] } } as Pod
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
    const { name = "", labels } = template.metadata ?? {}
    return {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        ...template.metadata,
        name: names.get(name) ?? "",
        namespace: set.metadata.namespace ?? "",
        labels: { ...labels, ...set.spec?.selector.matchLabels },
      },
      ...(template.spec === undefined ? {} : { spec: template.spec }),
    }
  })
}
