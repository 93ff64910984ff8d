// Fields that a pod for Linux or Windows may not set. Source: k8s.io/kubernetes/pkg/apis/core/validation (validateOS,
// validateLinux, validateWindows).

import { type FieldError, type FieldPath, forbiddenField, required } from "../../../../apimachinery/field-errors.ts"
import { isGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"
import { optionalOneOf } from "../../validation/values.ts"
import { containersWithPaths } from "./annotations.ts"
import type { PodSpec } from "./types.ts"

/** Fields of the pod spec. Upstream reports them among the fields of the security context. */
const shared: ReadonlySet<string> = new Set(["hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"])
const linuxOfPod = [
  "appArmorProfile",
  "seLinuxOptions",
  "hostUsers",
  "hostPID",
  "hostIPC",
  "seccompProfile",
  "fsGroup",
  "fsGroupChangePolicy",
  "sysctls",
  "shareProcessNamespace",
  "runAsUser",
  "runAsGroup",
  "supplementalGroups",
  "supplementalGroupsPolicy",
  "seLinuxChangePolicy",
]
const linuxOfContainer = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
]

/** `path`: of the spec. */
export function validateOperatingSystem(path: FieldPath, spec: PodSpec): FieldError[] {
  if (spec.os === undefined) return []
  const { name } = spec.os
  if (!name) return [required(path.child("os", "name"))]
  if (name === "linux") return validateLinux(path, spec)
  if (name === "windows") return validateWindows(path, spec)
  return optionalOneOf(path.child("os"), name, ["linux", "windows"])
}

function validateLinux(path: FieldPath, spec: PodSpec): FieldError[] {
  const contexts = [
    [path, spec.securityContext] as const,
    ...containersWithPaths(path, spec).map(([at, container]) => [at, container.securityContext] as const),
  ]
  return contexts.flatMap(([at, context]) =>
    context?.windowsOptions === undefined
      ? []
      : [
          forbiddenField(
            at.child("securityContext", "windowsOptions"),
            "windows options cannot be set for a linux pod",
          ),
        ],
  )
}

function validateWindows(path: FieldPath, spec: PodSpec): FieldError[] {
  const ofPod = linuxOfPod.filter((field) => isSet(shared.has(field) ? spec : spec.securityContext, field))
  return [
    ...ofPod.map((field) => (shared.has(field) ? path.child(field) : path.child("securityContext", field))),
    ...containersWithPaths(path, spec).flatMap(([at, { securityContext }]) =>
      linuxOfContainer
        .filter((field) => isSet(securityContext, field))
        .map((field) => at.child("securityContext", field)),
    ),
  ].map((at) => forbiddenField(at, "cannot be set for a windows pod"))
}

/** hostPID and hostIPC are values and not pointers upstream, so false is unset. Empty sysctls are unset; empty groups are set. */
function isSet(of: object | undefined, field: string): boolean {
  if (field === "supplementalGroups" && of !== undefined && isGivenEmpty(of, field)) return true
  const value = (of as Readonly<Record<string, unknown>> | undefined)?.[field]
  if (field === "hostPID" || field === "hostIPC") return value === true
  return Array.isArray(value) && field === "sysctls" ? value.length > 0 : value !== undefined
}
