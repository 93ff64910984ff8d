// Sysctls of pods: those of a namespace of the kernel that the pod shares with its node would change the node's. Source:
// k8s.io/kubernetes/pkg/apis/core/validation (validateSysctls), k8s.io/component-helpers/node/util/sysctl.

import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalidValue,
  required,
} from "../../../../apimachinery/field-errors.ts"
import type { PodSpec } from "./types.ts"

type Sysctls = NonNullable<PodSpec["securityContext"]>["sysctls"]

const sysctlName = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/
const sysctlLength = 253

const ofNetwork = /^net\./
const ofIPC = /^(kernel\.(sem|shm|shmall|shmmax|shmmni|shm_rmid_forced|msg|msgmax|msgmnb|msgmni)$|fs\.mqueue\.)/

export function validateSysctls(path: FieldPath, sysctls: Sysctls, spec: PodSpec): FieldError[] {
  const seen = new Set<string>()
  return (sysctls ?? []).flatMap(({ name }, index) => {
    const at = path.index(index).child("name")
    if (!name) return [required(at)]
    const errors: FieldError[] = []
    if (name.length > sysctlLength || !sysctlName.test(name)) {
      errors.push(
        invalidValue(
          at,
          name,
          "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$",
        ),
      )
    } else if (seen.has(name)) errors.push(duplicate(at, name))
    const dotted = withDots(name)
    if (spec.hostNetwork === true && ofNetwork.test(dotted)) {
      errors.push(invalidValue(at, name, "may not be specified when 'hostNetwork' is true"))
    }
    if (spec.hostIPC === true && ofIPC.test(dotted)) {
      errors.push(invalidValue(at, name, "may not be specified when 'hostIPC' is true"))
    }
    seen.add(name)
    return errors
  })
}

/** A name whose first separator is a slash has dots and slashes the other way around. */
function withDots(name: string): string {
  const first = /[./]/.exec(name)?.[0]
  return first === "/" ? name.replace(/[./]/g, (separator) => (separator === "/" ? "." : "/")) : name
}
