// Updates of a pod's status by kubelets and schedulers. Source: upstream's ValidatePodStatusUpdate.

import {
  type FieldError,
  FieldPath,
  forbiddenField,
  internalFieldError,
  invalidValue,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain, validateQualifiedName } from "../../../../apimachinery/names.ts"
import type { Pod } from "../../../../apimachinery/object.ts"
import { immutableFields } from "../../validation/equality.ts"
import { addressWarnings, isAddress, isIPv6Address, legacyAddress } from "../../validation/addresses.ts"
import { messages } from "../../validation/values.ts"
import { validateAnnotationsKept, validatePodAnnotations } from "../pod-spec/annotations.ts"
import { validateClaimStatuses } from "../pod-spec/claims.ts"
import { validateExtendedClaim, validateReported } from "./reported.ts"
import { validateRestarts } from "./restarts.ts"

const path = FieldPath.root("status")
const annotationsPath = FieldPath.root("metadata", "annotations")
const systemConditions = new Set(["PodScheduled", "Ready", "Initialized"])

export function validateStatusUpdate(pod: Pod, current: Pod): FieldError[] {
  const { metadata } = pod
  const spec = pod.spec ?? { containers: [] }
  const status = pod.status ?? {}
  const before = current.status ?? {}
  const { annotations: annotationsBefore } = current.metadata
  const { observedGeneration = 0, resourceClaimStatuses, extendedResourceClaimStatus } = status
  return [
    ...validateAnnotationsKept(metadata.annotations, annotationsBefore),
    ...validatePodAnnotations(annotationsPath, metadata.annotations, spec, annotationsBefore),
    ...validateConditions(status.conditions),
    ...validateNomination(status, current),
    ...notNegative(path.child("observedGeneration"), observedGeneration),
    ...immutableFields(path, status, before, ["qosClass"]),
    ...validateRestarts(path, pod, current),
    ...validateClaimStatuses(path.child("resourceClaimStatuses"), resourceClaimStatuses, spec.resourceClaims),
    ...validateExtendedClaim(path.child("extendedResourceClaimStatus"), extendedResourceClaimStatus, spec),
    ...validateAddresses(status, before),
    ...validateReported(path, status, spec),
  ]
}

function validateConditions(conditions: Status["conditions"]): FieldError[] {
  return (conditions ?? []).flatMap(({ type, observedGeneration = 0 }, index) => {
    const at = path.child("conditions").index(index)
    return [
      ...notNegative(at.child("observedGeneration"), observedGeneration),
      // Upstream's path has the name of the Go field.
      ...(systemConditions.has(type) ? [] : messages(at.child("Type"), type ?? "", validateQualifiedName(type ?? ""))),
    ]
  })
}

/** A nomination is for a pod that waits for its node. */
function validateNomination({ nominatedNodeName }: Status, { spec, status }: Pod): FieldError[] {
  if (!nominatedNodeName || nominatedNodeName === status?.nominatedNodeName) return []
  const at = path.child("nominatedNodeName")
  const errors = messages(at, nominatedNodeName, validateDNS1123Subdomain(nominatedNodeName))
  if (!spec?.nodeName) return errors
  return [...errors, forbiddenField(at, "may not be set on pods that are already bound to a node")]
}

function notNegative(at: FieldPath, generation: number): FieldError[] {
  return generation < 0 ? [invalidValue(at, generation, "must be a non-negative integer")] : []
}

/** podIP takes precedence over podIPs if they differ: the kubelet may know only the older field. */
export function alignAddresses(status: Status): void {
  const { podIP, podIPs } = status
  if (podIP && podIPs?.[0]?.ip !== podIP) status.podIPs = [{ ip: podIP }]
  else if (!podIP && podIPs?.[0]?.ip) status.podIP = podIPs[0].ip
}

/** Warnings for addresses that are not in the canonical format. */
export function statusWarnings({ status }: Pod): string[] {
  return (["podIPs", "hostIPs"] as const).flatMap((list) =>
    (status?.[list] ?? []).flatMap(({ ip }, index) =>
      addressWarnings(path.child(list).index(index).child("ip"), ip ?? ""),
    ),
  )
}

/** Those that an update does not contain. There may be several conditions of a type, which are taken in order. */
export function keepObservedGenerations(status: Status, before: Status): void {
  if (before.observedGeneration) status.observedGeneration ||= before.observedGeneration
  const byType = Map.groupBy(before.conditions ?? [], ({ type }) => type)
  const generations = new Map([...byType].map(([type, conditions]) => [type, conditions.values()]))
  for (const condition of status.conditions ?? []) {
    const known = generations.get(condition.type)?.next().value?.observedGeneration
    if (known) condition.observedGeneration ||= known
  }
}

type Status = NonNullable<Pod["status"]>

function validateAddresses(status: Status, before: Status): FieldError[] {
  const { podIPs = [], hostIPs = [], hostIP = "" } = status
  const textsOf = (addresses: readonly { ip?: string }[] = []): string[] => addresses.map(({ ip }) => ip ?? "")
  const legacy = (list: "podIPs" | "hostIPs"): FieldError[] => {
    const kept = new Set(textsOf(before[list]))
    return textsOf(status[list]).flatMap((ip, index) => legacyAddress(path.child(list).index(index), ip, kept))
  }
  const errors = [...legacy("podIPs"), ...onePerFamily(path.child("podIPs"), podIPs)]
  const first = hostIPs[0]?.ip ?? ""
  if (hostIPs.length > 0 && first !== hostIP) {
    errors.push(invalidValue(path.child("hostIPs").index(0).child("ip"), first, "must be equal to `hostIP`"))
  }
  return [...errors, ...legacy("hostIPs"), ...onePerFamily(path.child("hostIPs"), hostIPs)]
}

function onePerFamily(at: FieldPath, addresses: readonly { ip?: string }[]): FieldError[] {
  if (addresses.length < 2) return []
  const texts = addresses.map(({ ip = "" }) => ip)
  const bad = texts.findIndex((text) => !isAddress(text))
  const errors =
    bad < 0
      ? []
      : [internalFieldError(at, `failed to check for dual stack with error:invalid IP[${bad}]: ${texts[bad]}`)]
  const families = new Set(texts.map(isIPv6Address))
  if (bad >= 0 || families.size < 2 || texts.length > 2) {
    const shown = texts.map((text) => ({ IP: text }))
    errors.push(invalidValue(at, shown, "may specify no more than one IP for each IP family"))
  }
  return errors
}
