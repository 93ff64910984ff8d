// Pods. The subresources that modify a pod (status, ephemeralcontainers, resize, binding) use the same hooks; the requested
// subresource determines which fields may change. Source: k8s.io/kubernetes/pkg/registry/core/pod.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { isFinished } from "../../../../apimachinery/core/pod-phase.ts"
import { FieldPath, type FieldError, forbiddenField } from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label } from "../../../../apimachinery/names.ts"
import { type Pod, type PodSpec, timestamp } from "../../../../apimachinery/object.ts"
import type { Strategy } from "../../strategy.ts"
import { trimmedImage } from "../pod-spec/containers.ts"
import { fieldsOfAppArmor, validatePodAnnotations, validateProfilesMatch } from "../pod-spec/annotations.ts"
import { alignAccounts, defaultPodSpec, dropFormerAnnotations } from "../../../../apimachinery/core/pod-defaults.ts"
import { defaultPodOnly, dropDisabledOfPod } from "../pod-spec/defaults.ts"
import { defaultPodResources } from "../pod-spec/pod-resources.ts"
import { qosClass } from "../pod-spec/qos.ts"
import { atOnce, type Steps } from "../../../../apimachinery/steps.ts"
import { validatingPodSpec } from "../pod-spec/validate.ts"
import { podWarnings } from "../pod-spec/warnings.ts"
import { dropUnlessEphemeral, refuseEphemeral, validateEphemeralUpdate } from "./ephemeral-containers.ts"
import { mergeLabelKeys } from "./label-keys.ts"
import { dropUnlessResize, refuseResize, validateResize } from "./resize.ts"
import { dropDisabledOfStatus } from "./reported.ts"
import { alignAddresses, keepObservedGenerations, statusWarnings, validateStatusUpdate } from "./status.ts"
import { validateSpecUpdate } from "./update.ts"

const specPath = FieldPath.root("spec")

export const podStrategy: Strategy<Pod> = {
  dropDisabled: (pod) => dropDisabledOfPod(specOf(pod)),

  default(pod) {
    defaultPodSpec(specOf(pod))
    defaultPodOnly(specOf(pod))
  },

  convert(pod) {
    const spec = specOf(pod)
    dropFormerAnnotations(pod.metadata)
    alignAccounts(spec)
    // A negative value becomes the minimum, 1.
    if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1
    if (pod.status !== undefined) alignAddresses(pod.status)
  },

  /** Admission may have given the containers what the pod's own resources default to (LimitRanger). */
  defaultOnRead: (pod) => defaultPodResources(specOf(pod)),

  async begin(ctx, pod, current) {
    return current === undefined ? ctx.controlPlane.superQuota.claimPod(ctx, pod) : undefined
  },

  prepareForCreate(ctx, pod) {
    const spec = specOf(pod)
    for (const warning of fieldsOfAppArmor(pod.metadata.annotations, spec)) ctx.warn(warning)
    // A qosClass in the request is kept.
    pod.status = { phase: "Pending", qosClass: pod.status?.qosClass || qosClass(spec) }
    if ((spec.schedulingGates ?? []).length > 0) {
      pod.status.conditions = [
        {
          type: "PodScheduled",
          status: "False",
          reason: "SchedulingGated",
          message: "Scheduling is blocked due to non-empty scheduling gates",
          lastTransitionTime: timestamp(),
        },
      ]
    }
    mergeLabelKeys(pod)
  },

  *validating(_ctx, pod) {
    const errors = yield* validatingMetadataAndSpec(pod)
    const spec = specOf(pod)
    if ((spec.ephemeralContainers ?? []).length > 0) {
      errors.push(forbiddenField(specPath.child("ephemeralContainers"), "cannot be set on create"))
    }
    if (spec.nodeName && (spec.schedulingGates ?? []).length > 0) {
      errors.push(
        forbiddenField(specPath.child("nodeName"), "cannot be set until all schedulingGates have been cleared"),
      )
    }
    return [...errors, ...validateProfilesMatch(specPath, pod.metadata.annotations, spec)]
  },

  prepareForUpdate(ctx, pod, current) {
    switch (ctx.info.subresource) {
      case "binding":
      case "eviction":
        return
      case "status":
        pod.spec = current.spec ?? { containers: [] }
        pod.metadata.ownerReferences = current.metadata.ownerReferences ?? []
        delete pod.metadata.deletionTimestamp
        pod.status ??= {}
        dropDisabledOfStatus(pod.status)
        keepObservedGenerations(pod.status, current.status ?? {})
        pod.status.qosClass ??= current.status?.qosClass ?? qosClass(current.spec ?? { containers: [] })
        return
      case "ephemeralcontainers":
        return dropUnlessEphemeral(pod, current)
      case "resize":
        return dropUnlessResize(pod, current)
      default:
        if (current.status === undefined) delete pod.status
        else pod.status = current.status
    }
  },

  validateUpdate(ctx, pod, current) {
    switch (ctx.info.subresource) {
      case "binding":
      case "eviction":
        return []
      case "status":
        return validateStatusUpdate(pod, current)
      case "ephemeralcontainers":
        return firstOf(refuseEphemeral(current), () => [
          ...validateMetadataAndSpec(pod, current),
          ...validateEphemeralUpdate(pod, current),
        ])
      case "resize":
        return firstOf(refuseResize(current), () => {
          const faults = validateMetadataAndSpec(pod, current)
          return [...faults, ...validateResize(pod, current, faults)]
        })
      default:
        return [...validateMetadataAndSpec(pod, current), ...validateSpecUpdate(pod, current)]
    }
  },

  warnings(_ctx, pod, current) {
    if (current !== undefined) return []
    const faults = validateDNS1123Label(pod.metadata.name ?? "")
    const name =
      faults.length === 0
        ? []
        : [
            `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${faults.join(" ")}]`,
          ]
    return [...name, ...podWarnings(FieldPath.root(), pod.spec ?? { containers: [] }, pod.metadata.annotations)]
  },

  statusWarnings,

  graceSeconds(pod, asked) {
    if (!pod.spec?.nodeName || isFinished(pod)) return 0
    const seconds = asked ?? pod.spec.terminationGracePeriodSeconds ?? 0
    return seconds < 0 ? 1 : seconds
  },

  formerFields: dictionary({ "spec.host": "spec.nodeName" }),

  selectableFields(pod) {
    const spec: Partial<PodSpec> = pod.spec ?? {}
    return {
      "spec.nodeName": spec.nodeName ?? "",
      "spec.restartPolicy": spec.restartPolicy ?? "",
      "spec.schedulerName": spec.schedulerName ?? "",
      "spec.serviceAccountName": spec.serviceAccountName ?? "",
      "spec.hostNetwork": String(spec.hostNetwork ?? false),
      "status.phase": pod.status?.phase ?? "",
      "status.podIP": pod.status?.podIPs?.[0]?.ip ?? "",
      "status.nominatedNodeName": pod.status?.nominatedNodeName ?? "",
    }
  },
}

/** The decoder checks types but not required fields, so that validation can report those that a pod without a spec lacks. */
function specOf(pod: Pod): PodSpec {
  pod.spec ??= { containers: [] }
  return pod.spec
}

function firstOf(refusal: FieldError[], others: () => FieldError[]): FieldError[] {
  return refusal.length > 0 ? refusal : others()
}

function validateMetadataAndSpec(pod: Pod, current?: Pod): FieldError[] {
  return atOnce(validatingMetadataAndSpec(pod, current))
}

function* validatingMetadataAndSpec(pod: Pod, current?: Pod): Steps<FieldError[]> {
  const spec = pod.spec ?? { containers: [] }
  const { annotations } = pod.metadata
  const annotationsPath = FieldPath.root("metadata", "annotations")
  const errors = validatePodAnnotations(annotationsPath, annotations, spec, current?.metadata.annotations)
  errors.push(...(yield* validatingPodSpec(specPath, spec, pod.metadata)))
  if (!spec.serviceAccountName) {
    for (const [index, volume] of (spec.volumes ?? []).entries()) {
      for (const [place, source] of (volume.projected?.sources ?? []).entries()) {
        if (source.serviceAccountToken === undefined) continue
        errors.push(
          forbiddenField(
            specPath
              .child("volumes")
              .index(index)
              .child("projected", "sources")
              .index(place)
              .child("serviceAccountToken"),
            "must not be specified when serviceAccountName is not set",
          ),
        )
      }
    }
  }
  return [...errors, ...validateImagesTrimmed(spec)]
}

function validateImagesTrimmed(spec: PodSpec): FieldError[] {
  return (["containers", "initContainers"] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap(({ image }, index) =>
      trimmedImage(specPath.child(list).index(index).child("image"), image),
    ),
  )
}
