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
import { immutableField } from "../../validation/equality.ts"
import { addressWarnings, isAddress, isIPv6Address, legacyAddress } from "../../validation/addresses.ts"
import { messages } from "../../validation/values.ts"
import { validateAnnotationsKept, validatePodAnnotations } from "../pod-spec/annotations.ts"
import { validateClaimStatuses } from "../pod-spec/claims.ts"
import { validateExtendedClaim, validateReported } from "./reported.ts"
import { validateRestarts } from "./restarts.ts"

const path = FieldPath.root("status")
const notNegative = "must be a non-negative integer"
const systemConditions = new Set(["PodScheduled", "Ready", "Initialized"])

export function validateStatusUpdate(pod: Pod, current: Pod): FieldError[] {
  const status = pod.status ?? {}
  const before = current.status ?? {}
  const { annotations } = pod.metadata
  const annotationsPath = FieldPath.root("metadata", "annotations")
  const errors = [
    ...validateAnnotationsKept(annotations, current.metadata.annotations),
    ...validatePodAnnotations(
      annotationsPath,
      annotations,
      pod.spec ?? { containers: [] },
      current.metadata.annotations,
    ),
  ]
  for (const [index, { type, observedGeneration = 0 }] of (status.conditions ?? []).entries()) {
    if (observedGeneration < 0) {
      const at = path.child("conditions").index(index).child("observedGeneration")
      errors.push(invalidValue(at, observedGeneration, notNegative))
    }
    if (systemConditions.has(type)) continue
    errors.push(
      ...messages(path.child("conditions").index(index).child("Type"), type ?? "", validateQualifiedName(type ?? "")),
    )
  }
  const nominated = status.nominatedNodeName
  if (nominated && nominated !== before.nominatedNodeName) {
    errors.push(...messages(path.child("nominatedNodeName"), nominated, validateDNS1123Subdomain(nominated)))
    if (current.spec?.nodeName) {
      const text = "may not be set on pods that are already bound to a node"
      errors.push(forbiddenField(path.child("nominatedNodeName"), text))
    }
  }
  const { observedGeneration = 0 } = status
  if (observedGeneration < 0) {
    errors.push(invalidValue(path.child("observedGeneration"), observedGeneration, notNegative))
  }
  errors.push(...immutableField(path.child("qosClass"), status.qosClass, before.qosClass))
  errors.push(
    ...validateRestarts(path, pod, current),
    ...validateClaimStatuses(
      path.child("resourceClaimStatuses"),
      status.resourceClaimStatuses,
      pod.spec?.resourceClaims,
    ),
    ...validateExtendedClaim(
      path.child("extendedResourceClaimStatus"),
      status.extendedResourceClaimStatus,
      pod.spec ?? { containers: [] },
    ),
  )
  return [
    ...errors,
    ...validateAddresses(status, before),
    ...validateReported(path, status, pod.spec ?? { containers: [] }),
  ]
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
