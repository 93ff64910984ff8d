// Annotations with a meaning for pods and pod templates. Those that preceded fields must be valid and agree with the fields.
// Source: k8s.io/kubernetes/pkg/apis/core/validation (ValidatePodSpecificAnnotations, validateSeccompAnnotationsAndFields,
// validateAppArmorAnnotationsAndFieldsMatchOnCreate), pkg/registry/core/pod/strategy.go.

import { mirrorAnnotation } from "../../../../apimachinery/core/mirror-pods.ts"
import { ownValue } from "../../../../apimachinery/schema/json-object.ts"
import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { type FieldError, FieldPath, forbiddenField, invalidValue } from "../../../../apimachinery/field-errors.ts"
import { goQuote } from "../../../../apimachinery/go/quote.ts"
import type { Container, ObjectMeta, PodSpec } from "../../../../apimachinery/object.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { descendingPath } from "../volumes/sources.ts"
import { validateAppArmor } from "./security.ts"
import { tolerationsAnnotation, validateTolerationsAnnotation } from "./tolerations-annotation.ts"

type Annotations = ObjectMeta["annotations"]
type Profile = { type: string; localhostProfile?: string }

const deletionCost = "controller.kubernetes.io/pod-deletion-cost"
export const seccompOfPod = "seccomp.security.alpha.kubernetes.io/pod"
export const seccompOfContainer = "container.seccomp.security.alpha.kubernetes.io/"
export const appArmorOfContainer = "container.apparmor.security.beta.kubernetes.io/"
const localhost = "localhost/"

/** Sorted, because Go iterates in random order. */
const entriesOf = (annotations: Annotations): [string, string][] =>
  Object.entries(annotations ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))

const valueOf = (annotations: Annotations, key: string): string | undefined => ownValue(annotations, key)

export function containersWithPaths(path: FieldPath, spec: PodSpec): [FieldPath, Container][] {
  return (["initContainers", "containers", "ephemeralContainers"] as const).flatMap((field) =>
    (spec[field] ?? []).map((container, index): [FieldPath, Container] => [path.child(field).index(index), container]),
  )
}

/** `path`: of the annotations. `before`: the annotations of the current object; an invalid deletion cost in them stays valid. */
export function validatePodAnnotations(
  path: FieldPath,
  annotations: Annotations,
  spec: PodSpec,
  before?: Annotations,
): FieldError[] {
  const mirror = valueOf(annotations, mirrorAnnotation)
  const tolerations = valueOf(annotations, tolerationsAnnotation) ?? ""
  const cost = valueOf(annotations, deletionCost)
  const wasWrong = !isCost(valueOf(before, deletionCost))
  return [
    ...(mirror === undefined || spec.nodeName
      ? []
      : [invalidValue(path.key(mirrorAnnotation), mirror, "must set spec.nodeName if mirror pod annotation is set")]),
    ...validateTolerationsAnnotation(path, tolerations),
    ...(isCost(cost) || wasWrong ? [] : [invalidValue(path.key(deletionCost), cost, "must be a 32bit integer")]),
    ...entriesOf(annotations).flatMap(([key, value]) =>
      key === seccompOfPod || key.startsWith(seccompOfContainer) ? validateSeccomp(path.child(key), value) : [],
    ),
    ...entriesOf(annotations).flatMap(([key, value]) =>
      key.startsWith(appArmorOfContainer) ? validateAppArmorAnnotation(path.key(key), key, value, spec) : [],
    ),
  ]
}

/** Upstream does not check the format of negative numbers before parsing, so they may have leading zeros. */
function isCost(text: string | undefined): boolean {
  if (text === undefined) return true
  return /^(?:0|[1-9]\d{0,9}|-\d{1,40})$/.test(text) && BigInt.asIntN(32, BigInt(text)) === BigInt(text)
}

function validateSeccomp(path: FieldPath, value: string): FieldError[] {
  if (value === "runtime/default" || value === "docker/default" || value === "unconfined") return []
  if (value.startsWith(localhost)) return descendingPath(path, value.slice(localhost.length))
  return [invalidValue(path, value, "must be a valid seccomp profile")]
}

function validateAppArmorAnnotation(path: FieldPath, key: string, value: string, spec: PodSpec): FieldError[] {
  const name = key.slice(appArmorOfContainer.length)
  const errors: FieldError[] = []
  const names = containersWithPaths(path, spec).map(([, container]) => container.name)
  if (!names.includes(name)) errors.push(invalidValue(path, name, "container not found"))
  if (!["", "runtime/default", "unconfined"].includes(value) && !value.startsWith(localhost))
    errors.push(invalidValue(path, value, `invalid AppArmor profile name: ${goQuote(value)}`))
  return errors
}

/** Checks profiles that are set in both an annotation and a field. `path`: of the spec. */
export function validateProfilesMatch(path: FieldPath, annotations: Annotations, spec: PodSpec): FieldError[] {
  const containers = containersWithPaths(path, spec)
  const match = (word: string, at: FieldPath, key: string, profile: Profile | undefined): FieldError[] => {
    const value = valueOf(annotations, key)
    return value === undefined || profile === undefined ? [] : mismatch(word, at, value, profile)
  }
  const ofPod = spec.securityContext
  const seccomp = [
    ...match("seccomp", path.child("securityContext", "seccompProfile"), seccompOfPod, ofPod?.seccompProfile),
    ...containers.flatMap(([at, { name, securityContext }]) => {
      const place = at.child("securityContext", "seccompProfile")
      return match("seccomp", place, seccompOfContainer + name, securityContext?.seccompProfile)
    }),
  ]
  if (spec.os?.name === "windows") return seccomp
  const appArmor = containers.flatMap(([at, { name, securityContext }]) => {
    const profile = securityContext?.appArmorProfile ?? ofPod?.appArmorProfile
    return match("apparmor", at.child("securityContext", "appArmorProfile"), appArmorOfContainer + name, profile)
  })
  return [...seccomp, ...appArmor]
}

function mismatch(word: string, path: FieldPath, value: string, { type, localhostProfile }: Profile): FieldError[] {
  const isType: Readonly<Record<string, boolean>> = dictionary({
    Unconfined: value === "unconfined",
    RuntimeDefault: value === "runtime/default" || (word === "seccomp" && value === "docker/default"),
    Localhost: value.startsWith(localhost),
  })
  if (isType[type] === false)
    return [forbiddenField(path.child("type"), `${word} type in annotation and field must match`)]
  if (type !== "Localhost" || value.slice(localhost.length) === localhostProfile) return []
  return [forbiddenField(path.child("localhostProfile"), `${word} profile in annotation and field must match`)]
}

/** Converts an AppArmor annotation to the field; undefined if the field does not support the value. */
function appArmorOf(annotation: string): Profile | undefined {
  if (annotation === "unconfined") return { type: "Unconfined" }
  if (annotation === "runtime/default") return { type: "RuntimeDefault" }
  if (!annotation.startsWith(localhost) || annotation === localhost) return undefined
  const profile = { type: "Localhost", localhostProfile: annotation.slice(localhost.length) }
  return validateAppArmor(FieldPath.root(), profile).length === 0 ? profile : undefined
}

const appArmorWarning = (path: FieldPath): string =>
  `${path.toString()}: deprecated since v1.30; use the "appArmorProfile" field instead`

/** Copies the AppArmor annotations of a new pod to the fields. Returns the resulting warnings. */
export function fieldsOfAppArmor(annotations: Annotations, spec: PodSpec): string[] {
  if (spec.os?.name === "windows") return []
  const warnings: string[] = []
  for (const [, container] of containersWithPaths(FieldPath.root("spec"), spec)) {
    const key = appArmorOfContainer + container.name
    const value = valueOf(annotations, key)
    if (value === undefined || container.securityContext?.appArmorProfile !== undefined) continue
    const profile = appArmorOf(value)
    if (profile !== undefined && semanticEqual(profile, spec.securityContext?.appArmorProfile)) continue
    if (profile !== undefined) container.securityContext = { ...container.securityContext, appArmorProfile: profile }
    warnings.push(appArmorWarning(FieldPath.root("metadata", "annotations").key(key)))
  }
  return warnings
}

/** Warnings for annotations without the corresponding field. `root`: as in podWarnings. */
export function profileWarnings(root: FieldPath, annotations: Annotations, spec: PodSpec): string[] {
  const at = root.child("metadata", "annotations")
  const seccompWarning = (key: string): string[] =>
    valueOf(annotations, key) === undefined
      ? []
      : [`${at.key(key).toString()}: non-functional in v1.27+; use the "seccompProfile" field instead`]
  const own = spec.securityContext
  const isTemplate = root.toString() !== ""
  return [
    ...(own?.seccompProfile === undefined ? seccompWarning(seccompOfPod) : []),
    ...containersWithPaths(root, spec).flatMap(([, { name, securityContext }]) => {
      const key = appArmorOfContainer + name
      const value = valueOf(annotations, key)
      const isOld = isTemplate && value !== undefined && securityContext?.appArmorProfile === undefined
      const isOfPod = own?.appArmorProfile !== undefined && semanticEqual(own.appArmorProfile, appArmorOf(value ?? ""))
      return [
        ...(securityContext?.seccompProfile === undefined ? seccompWarning(seccompOfContainer + name) : []),
        ...(isOld && !isOfPod ? [appArmorWarning(at.key(key))] : []),
      ]
    }),
  ]
}

/** Annotations that are immutable. */
export function validateAnnotationsKept(annotations: Annotations, before: Annotations): FieldError[] {
  const path = FieldPath.root("metadata", "annotations")
  const nameOf = (key: string): string | undefined => {
    if (key.startsWith(appArmorOfContainer)) return "AppArmor annotations"
    return key === mirrorAnnotation ? "mirror pod annotation" : undefined
  }
  const changed = entriesOf(before).filter(([key, value]) => valueOf(annotations, key) !== value)
  const added = entriesOf(annotations).filter(([key]) => valueOf(before, key) === undefined)
  const refuse =
    (word: string) =>
    ([key]: [string, string]) => {
      const name = nameOf(key)
      return name === undefined ? [] : [forbiddenField(path.key(key), `may not ${word} ${name}`)]
    }
  return [...changed.flatMap(refuse("remove or update")), ...added.flatMap(refuse("add"))]
}
