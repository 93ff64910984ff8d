// Updates of a pod's status: a container that has terminated for good may not run again. Source: upstream's
// Validate*ContainerStateTransition.

import { mayRestart } from "../../../../apimachinery/core/container-restarts.ts"
import { byName } from "../../../../apimachinery/repeats.ts"
import { type FieldError, type FieldPath, forbiddenField } from "../../../../apimachinery/field-errors.ts"
import type { Container, ContainerStatus, Pod } from "../../../../apimachinery/object.ts"

export function validateRestarts(path: FieldPath, pod: Pod, current: Pod): FieldError[] {
  const spec = current.spec ?? { containers: [] }
  const { containers, initContainers = [] } = spec
  const mayAny = [...containers, ...initContainers].some(({ restartPolicyRules }) =>
    restartPolicyRules?.some(({ action }) => action === "RestartAllContainers"),
  )
  const mayOf = (among: readonly Container[]): ((name: string, exitCode: number) => boolean) => {
    const named = byName(among)
    return (name, exitCode) => {
      const container = named.get(name)
      return mayAny || (container !== undefined && mayRestart(container, spec, exitCode))
    }
  }
  const kinds = [
    ["containerStatuses", mayOf(containers)],
    ["initContainerStatuses", mayOf(initContainers)],
    ["ephemeralContainerStatuses", () => false],
  ] as const
  return kinds.flatMap(([field, may]) =>
    restartFaults(path.child(field), pod.status?.[field], current.status?.[field], may),
  )
}

function restartFaults(
  path: FieldPath,
  statuses: readonly ContainerStatus[] = [],
  before: readonly ContainerStatus[] = [],
  may: (name: string, exitCode: number) => boolean,
): FieldError[] {
  // Several may have one name.
  const running = new Set(statuses.filter(({ state }) => state?.terminated === undefined).map(({ name }) => name))
  return before.flatMap(({ name, state }, index) => {
    if (state?.terminated === undefined || !running.has(name)) return []
    if (may(name, state.terminated.exitCode)) return []
    return [forbiddenField(path.index(index).child("state"), "may not be transitioned to non-terminated state")]
  })
}
