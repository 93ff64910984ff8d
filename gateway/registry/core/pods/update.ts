// The mutable fields of a pod's spec: images, deadline, additional tolerations, removal of scheduling gates; more while the pod is
// gated. Source: k8s.io/kubernetes/pkg/apis/core/validation ValidatePodUpdate.

import {
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  required,
} from "../../../../apimachinery/field-errors.ts"
import type { Container, Pod, PodSpec } from "../../../../apimachinery/object.ts"
import { difference, semanticEqual } from "../../validation/equality.ts"
import { inclusiveRange, maxInt32 } from "../../validation/values.ts"
import { trimmedImage } from "../pod-spec/containers.ts"
import { validateAnnotationsKept } from "../pod-spec/annotations.ts"
import { validateOnlyAddedTolerations } from "../pod-spec/scheduling.ts"

const path = FieldPath.root("spec")
const changeable =
  "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

export function validateSpecUpdate(pod: Pod, currentPod: Pod): FieldError[] {
  const spec = pod.spec ?? { containers: [] }
  const current = currentPod.spec ?? { containers: [] }
  const errors = validateAnnotationsKept(pod.metadata.annotations, currentPod.metadata.annotations)
  for (const list of ["containers", "initContainers"] as const) {
    const containers = spec[list] ?? []
    if (containers.length !== (current[list] ?? []).length) {
      return [...errors, forbiddenField(path.child(list), "pod updates may not add or remove containers")]
    }
    for (const [index, container] of containers.entries()) {
      errors.push(...validateImage(path.child(list).index(index).child("image"), container.image))
    }
  }
  const deadline = validateDeadline(spec.activeDeadlineSeconds, current.activeDeadlineSeconds)
  errors.push(...deadline)
  if (deadline.length > 0 && spec.activeDeadlineSeconds !== undefined) return errors
  errors.push(...validateOnlyAddedTolerations(path.child("tolerations"), spec.tolerations, current.tolerations))
  errors.push(...onlyFewerGates(spec, current))
  if (semanticEqual(spec, current)) return errors
  const { rest, faults } = whileGated(withoutChangeable(spec, current), current)
  errors.push(...faults)
  if (!semanticEqual(rest, current)) {
    errors.push(
      forbiddenField(path, `pod updates may not change fields other than ${changeable}\n${difference(rest, current)}`),
    )
  }
  return errors
}

function validateImage(at: FieldPath, image: string | undefined): FieldError[] {
  return image ? trimmedImage(at, image) : [required(at)]
}

function validateDeadline(seconds: number | undefined, current: number | undefined): FieldError[] {
  const at = path.child("activeDeadlineSeconds")
  if (seconds === undefined) {
    return current === undefined
      ? []
      : [invalidValue(at, undefined, "must not update from a positive integer to nil value")]
  }
  if (seconds < 0 || seconds > maxInt32) return [invalidValue(at, seconds, inclusiveRange(0, maxInt32))]
  return current !== undefined && current < seconds
    ? [invalidValue(at, seconds, "must be less than or equal to previous value")]
    : []
}

function onlyFewerGates(spec: PodSpec, current: PodSpec): FieldError[] {
  const known = new Set((current.schedulingGates ?? []).map(({ name }) => name))
  // As upstream, the last of duplicate gates is reported.
  const last = new Map((spec.schedulingGates ?? []).map(({ name }, index) => [name, index]))
  return [...last].flatMap(([name, index]) =>
    known.has(name)
      ? []
      : [
          forbiddenField(
            path.child("schedulingGates").index(index).child("name"),
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ],
  )
}

/** The new spec with all mutable fields reset to their current values: the result must equal the current spec. */
function withoutChangeable(spec: PodSpec, current: PodSpec): PodSpec {
  const rest: PodSpec = { ...spec, containers: oldImages(spec.containers, current.containers) }
  put(rest, "initContainers", spec.initContainers && oldImages(spec.initContainers, current.initContainers))
  put(rest, "activeDeadlineSeconds", current.activeDeadlineSeconds)
  put(rest, "schedulingGates", current.schedulingGates)
  put(rest, "tolerations", current.tolerations)
  if ((current.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1) {
    put(rest, "terminationGracePeriodSeconds", current.terminationGracePeriodSeconds)
  }
  return rest
}

function oldImages(containers: readonly Container[] = [], current: readonly Container[] = []): Container[] {
  return containers.map((container, index) => {
    const copy = { ...container }
    put(copy, "image", current[index]?.image)
    return copy
  })
}

function put<T extends object, K extends keyof T>(target: T, key: K, value: T[K] | undefined): void {
  if (value === undefined) delete target[key]
  else target[key] = value
}

/** A gated pod's node selector and node affinity may become narrower. */
function whileGated(rest: PodSpec, current: PodSpec): { rest: PodSpec; faults: FieldError[] } {
  if ((current.schedulingGates ?? []).length === 0) return { rest, faults: [] }
  const faults: FieldError[] = []
  const kept = Object.entries(current.nodeSelector ?? {}).every(([key, value]) => rest.nodeSelector?.[key] === value)
  if (!kept) {
    faults.push(
      invalidValue(
        path.child("nodeSelector"),
        rest.nodeSelector,
        "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
      ),
    )
  }
  put(rest, "nodeSelector", current.nodeSelector)
  const nodes = rest.affinity?.nodeAffinity
  const before = current.affinity?.nodeAffinity
  if (!semanticEqual(nodes, before)) {
    faults.push(...onlyNarrower(nodes, before))
    const affinity = { ...rest.affinity }
    put(affinity, "nodeAffinity", before)
    const isAbsent = current.affinity === undefined && Object.keys(affinity).length === 0
    put(rest, "affinity", isAbsent ? undefined : affinity)
  }
  return { rest, faults }
}

type NodeAffinity = NonNullable<NonNullable<PodSpec["affinity"]>["nodeAffinity"]>

function onlyNarrower(nodes: NodeAffinity | undefined, before: NodeAffinity | undefined): FieldError[] {
  const at = path.child(
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
  )
  const old = before?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  if (old === undefined) return []
  const given = nodes?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  const terms = given ?? []
  if (terms.length !== old.length) {
    const detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
    return [invalidValue(at, given === undefined ? null : terms.map(shownTerm), detail)]
  }
  return terms.flatMap((term, index) => {
    const was = old[index]
    const startsWith = (list: readonly unknown[] = [], start: readonly unknown[] = []): boolean =>
      semanticEqual(list.slice(0, start.length), start)
    const narrower =
      !(isEmptyTerm(was) && !isEmptyTerm(term)) &&
      startsWith(term.matchExpressions, was?.matchExpressions) &&
      startsWith(term.matchFields, was?.matchFields)
    return narrower
      ? []
      : [invalidValue(at.index(index), term, "only additions are allowed (no mutations or deletions)")]
  })
}

type Term = NonNullable<
  NonNullable<NodeAffinity["requiredDuringSchedulingIgnoredDuringExecution"]>["nodeSelectorTerms"]
>[number]

/** It matches no node, so that anything added makes it wider. */
function isEmptyTerm(term: Term | undefined): boolean {
  return (term?.matchExpressions ?? []).length === 0 && (term?.matchFields ?? []).length === 0
}

/** In the format of Go. */
function shownTerm({ matchExpressions = [], matchFields = [] }: Term): object {
  const list = (requirements: NonNullable<Term["matchExpressions"]>): object[] | null =>
    requirements.length === 0
      ? null
      : requirements.map(({ key, operator, values }) => ({ Key: key, Operator: operator, Values: values ?? null }))
  return { MatchExpressions: list(matchExpressions), MatchFields: list(matchFields) }
}
