// Security contexts of pods and containers. Source: k8s.io/kubernetes/pkg/apis/core/validation.

import { trimSpace } from "../../../../apimachinery/texts.ts"
import {
  type FieldError,
  type FieldPath,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from "../../../../apimachinery/field-errors.ts"
import { maxInt32, optionalOneOf, within } from "../../validation/values.ts"
import type { Container, PodSpec } from "./types.ts"
import { descendingPath } from "../volumes/sources.ts"
import { validateSysctls } from "./sysctls.ts"
import { validateWindowsOptions } from "./windows.ts"

type PodSecurityContext = NonNullable<PodSpec["securityContext"]>
type SecurityContext = NonNullable<Container["securityContext"]>
interface Profile {
  type: string
  localhostProfile?: string
}

export function validatePodSecurityContext(path: FieldPath, spec: PodSpec): FieldError[] {
  const context: PodSecurityContext = spec.securityContext ?? {}
  const errors = [
    ...within(path.child("fsGroup"), context.fsGroup, 0, maxInt32),
    ...within(path.child("runAsUser"), context.runAsUser, 0, maxInt32),
    ...within(path.child("runAsGroup"), context.runAsGroup, 0, maxInt32),
    ...(context.supplementalGroups ?? []).flatMap((group, index) =>
      within(path.child("supplementalGroups").index(index), group, 0, maxInt32),
    ),
  ]
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    errors.push(
      invalidValue(
        path.child("shareProcessNamespace"),
        true,
        "ShareProcessNamespace and HostPID cannot both be enabled",
      ),
    )
  }
  errors.push(...validateSysctls(path.child("sysctls"), context.sysctls, spec))
  errors.push(
    ...optionalOneOf(path.child("fsGroupChangePolicy"), context.fsGroupChangePolicy, ["Always", "OnRootMismatch"]),
    ...validateSeccomp(path.child("seccompProfile"), context.seccompProfile),
    ...validateWindowsOptions(path.child("windowsOptions"), context.windowsOptions),
    ...validateAppArmor(path.child("appArmorProfile"), context.appArmorProfile),
    ...optionalOneOf(path.child("supplementalGroupsPolicy"), context.supplementalGroupsPolicy, ["Merge", "Strict"]),
    // Mounting with an SELinux context is behind a disabled feature gate.
    ...optionalOneOf(path.child("seLinuxChangePolicy"), context.seLinuxChangePolicy, ["Recursive"]),
  )
  return errors
}

export function validateSecurityContext(
  path: FieldPath,
  context: SecurityContext | undefined,
  hostUsers: boolean,
): FieldError[] {
  if (context === undefined) return []
  const errors = [
    ...within(path.child("runAsUser"), context.runAsUser, 0, maxInt32),
    ...within(path.child("runAsGroup"), context.runAsGroup, 0, maxInt32),
    ...optionalOneOf(path.child("procMount"), context.procMount, ["Default", "Unmasked"]),
  ]
  if (hostUsers && context.procMount === "Unmasked") {
    errors.push(invalidValue(path.child("procMount"), context.procMount, "`hostUsers` must be false to use `Unmasked`"))
  }
  errors.push(...validateSeccomp(path.child("seccompProfile"), context.seccompProfile))
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged === true) {
      errors.push(
        invalidValue(path, context, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"),
      )
    }
    if (context.capabilities?.add?.includes("CAP_SYS_ADMIN") === true) {
      errors.push(
        invalidValue(
          path,
          context,
          "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
        ),
      )
    }
  }
  return [
    ...errors,
    ...validateWindowsOptions(path.child("windowsOptions"), context.windowsOptions),
    ...validateAppArmor(path.child("appArmorProfile"), context.appArmorProfile),
  ]
}

const profileTypes = ["Localhost", "RuntimeDefault", "Unconfined"]

function validateSeccomp(path: FieldPath, profile: Profile | undefined): FieldError[] {
  if (profile === undefined) return []
  const errors: FieldError[] = []
  if (!profile.type) errors.push(required(path.child("type"), "type is required when seccompProfile is set"))
  else if (!profileTypes.includes(profile.type)) {
    errors.push(notSupported(path.child("type"), profile.type, profileTypes))
  }
  const local = profile.localhostProfile
  if (profile.type === "Localhost") {
    errors.push(
      ...(local === undefined
        ? [required(path.child("localhostProfile"), "must be set when seccomp type is Localhost")]
        : descendingPath(path.child("localhostProfile"), local)),
    )
  } else if (local !== undefined) {
    errors.push(invalidValue(path.child("localhostProfile"), profile, "can only be set when seccomp type is Localhost"))
  }
  return errors
}

/** Bytes of a path. */
const longestProfile = 4095

export function validateAppArmor(path: FieldPath, profile: Profile | undefined): FieldError[] {
  if (profile === undefined) return []
  if (!profile.type) return [required(path.child("type"), "type is required when appArmorProfile is set")]
  if (!profileTypes.includes(profile.type)) return [notSupported(path.child("type"), profile.type, profileTypes)]
  const at = path.child("localhostProfile")
  const local = profile.localhostProfile
  if (profile.type !== "Localhost") {
    return local === undefined ? [] : [invalidValue(at, local, "can only be set when AppArmor type is Localhost")]
  }
  if (local === undefined || local === "") return [required(at, "must be set when AppArmor type is Localhost")]
  return [
    ...(local === trimSpace(local) ? [] : [invalidValue(at, local, "must not be padded with whitespace")]),
    ...(Buffer.byteLength(local) > longestProfile ? [tooLong(at, "", longestProfile)] : []),
  ]
}
