// Warnings about valid but probably unintended fields of a pod spec. Source: k8s.io/kubernetes/pkg/api/pod/warnings.go.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { FieldPath } from "../../../../apimachinery/field-errors.ts"
import { ownValue } from "../../../../apimachinery/schema/json-object.ts"
import { addressWarnings } from "../../validation/addresses.ts"
import { nodeTermWarnings, oldLabelValueWarnings, oldLabelWarnings } from "../old-node-labels.ts"
import { claimSpecWarnings, fractionWarning } from "../persistentvolumeclaims/warnings.ts"
import { containersWithPaths, profileWarnings } from "./annotations.ts"
import { portWarnings } from "./port-warnings.ts"
import type { Container, PodSpec, Volume } from "./types.ts"
import { volumePathWarnings } from "./volume-warnings.ts"

/** The name in the warning, and the reason. */
const oldVolumes: Readonly<Record<string, readonly [string, string]>> = dictionary({
  photonPersistentDisk: ["photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  gitRepo: ["gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  scaleIO: ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  flocker: ["flocker", "deprecated in v1.22, non-functional in v1.25+"],
  storageos: ["storageOS", "deprecated in v1.22, non-functional in v1.25+"],
  quobyte: ["quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  glusterfs: ["glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  cephfs: ["cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  rbd: ["rbd", "deprecated in v1.28, non-functional in v1.31+"],
})
const oldAnnotations: Readonly<Record<string, string>> = dictionary({
  "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
  "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
  "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
})
/** `root`: the path of the spec's parent: empty for a pod, "spec.template" for the template of a Deployment. */
export function podWarnings(
  root: FieldPath,
  spec: PodSpec,
  annotations: Readonly<Record<string, string>> | undefined,
): string[] {
  const path = root.child("spec")
  return [
    ...schedulingWarnings(path, spec),
    ...Object.entries(annotations ?? {}).flatMap(([key]) => {
      const message = oldAnnotations[key]
      return message === undefined ? [] : [`${String(root.child("metadata", "annotations").key(key))}: ${message}`]
    }),
    ...(spec.volumes ?? []).flatMap((volume, index) => volumeWarnings(path.child("volumes").index(index), volume)),
    ...volumePathWarnings(spec.volumes ?? []),
    ...duplicates(path.child("hostAliases"), spec.hostAliases, "ip"),
    ...duplicates(path.child("imagePullSecrets"), spec.imagePullSecrets, "name"),
    ...(spec.imagePullSecrets ?? []).flatMap(({ name }, index) =>
      name ? [] : [`${String(path.child("imagePullSecrets").index(index).child("name"))}: invalid empty name ""`],
    ),
    ...["memory", "ephemeral-storage"].flatMap((resource) =>
      fractionWarning(path.child("overhead").key(resource), ownValue(spec.overhead, resource)),
    ),
    ...profileWarnings(root, annotations, spec),
    ...containersWithPaths(path, spec).flatMap(([at, container]) => containerWarnings(at, container)),
    ...portWarnings(path, spec),
    ...((spec.terminationGracePeriodSeconds ?? 0) < 0
      ? [
          `${String(path.child("terminationGracePeriodSeconds"))}: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...affinityWarnings(path, spec),
    ...(spec.dnsConfig?.nameservers ?? []).flatMap((address, index) =>
      addressWarnings(path.child("dnsConfig", "nameservers").index(index), address),
    ),
    ...(spec.hostAliases ?? []).flatMap(({ ip }, index) =>
      addressWarnings(path.child("hostAliases").index(index).child("ip"), ip),
    ),
  ]
}

function schedulingWarnings(path: FieldPath, spec: PodSpec): string[] {
  const warnings = Object.keys(spec.nodeSelector ?? {}).flatMap((key) =>
    oldLabelWarnings(path.child("nodeSelector").key(key), key),
  )
  warnings.push(...nodeAffinityWarnings(path.child("affinity", "nodeAffinity"), spec.affinity?.nodeAffinity))
  for (const [index, constraint] of (spec.topologySpreadConstraints ?? []).entries()) {
    const at = path.child("topologySpreadConstraints").index(index)
    warnings.push(...oldLabelValueWarnings(at.child("topologyKey"), constraint.topologyKey))
    if (constraint.labelSelector === undefined) {
      warnings.push(`${String(at.child("labelSelector"))}: a null labelSelector results in matching no pod`)
    }
  }
  return warnings
}

type NodeAffinity = NonNullable<PodSpec["affinity"]>["nodeAffinity"]

function nodeAffinityWarnings(path: FieldPath, affinity: NodeAffinity): string[] {
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  const hard = path.child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
  const soft = path.child("preferredDuringSchedulingIgnoredDuringExecution")
  return [
    ...required.flatMap((term, index) => nodeTermWarnings(hard.index(index), term.matchExpressions, false)),
    ...preferred.flatMap(({ preference }, index) =>
      nodeTermWarnings(soft.index(index).child("preference"), preference?.matchExpressions, true),
    ),
  ]
}

function affinityWarnings(path: FieldPath, spec: PodSpec): string[] {
  const warnings: string[] = []
  for (const kind of ["podAffinity", "podAntiAffinity"] as const) {
    const affinity = spec.affinity?.[kind]
    const at = path.child("affinity", kind)
    const warn = (place: FieldPath): void => {
      warnings.push(`${String(place.child("labelSelector"))}: a null labelSelector results in matching no pod`)
    }
    for (const [index, term] of (affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      if (term.labelSelector === undefined)
        warn(at.child("requiredDuringSchedulingIgnoredDuringExecution").index(index))
    }
    for (const [index, item] of (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      const place = at.child("preferredDuringSchedulingIgnoredDuringExecution").index(index)
      if (item.podAffinityTerm?.labelSelector === undefined) warn(place.child("podAffinityTerm"))
    }
  }
  return warnings
}

function duplicates<K extends string>(
  at: FieldPath,
  items: readonly Partial<Record<K, string>>[] = [],
  field: K,
): string[] {
  const seen = new Set<string>()
  return items.flatMap((item, index) => {
    const value: string = item[field] ?? ""
    const known = seen.has(value)
    seen.add(value)
    return known ? [`${String(at.index(index).child(field))}: duplicate ${field} ${JSON.stringify(value)}`] : []
  })
}

function volumeWarnings(at: FieldPath, volume: Volume): string[] {
  const template = volume.ephemeral?.volumeClaimTemplate
  const old = Object.keys(volume).flatMap((source) => {
    const [shown, message] = oldVolumes[source] ?? []
    return shown === undefined ? [] : [`${String(at.child(shown))}: ${message}`]
  })
  if (template === undefined) return old
  return [...old, ...claimSpecWarnings(at.child("ephemeral", "volumeClaimTemplate", "spec"), template.spec)]
}

function containerWarnings(at: FieldPath, container: Container): string[] {
  const warnings: string[] = []
  for (const resource of ["memory", "ephemeral-storage"]) {
    for (const kind of ["limits", "requests"] as const) {
      const text = container.resources?.[kind]?.[resource]
      warnings.push(...fractionWarning(at.child("resources", kind).key(resource), text))
    }
  }
  const seen = new Set<string>()
  for (const [index, variable] of (container.env ?? []).entries()) {
    const { name, value = "", valueFrom } = variable
    const reference = `$(${name})`
    // A repeated name is intended if the value refers to the previous one.
    const builds = valueFrom === undefined && value !== reference && value.includes(reference)
    if (seen.has(name) && !builds) {
      warnings.push(
        `${String(at.child("env").index(index))}: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
      )
    }
    seen.add(name)
  }
  return warnings
}
