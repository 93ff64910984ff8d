// The checks of level "restricted" beyond "baseline": current hardening practices. Source: as baseline.ts.

import type { Container } from "../../../../apimachinery/object.ts"
import { isBadSeccomp, seccompProfile } from "./baseline.ts"
import {
  type Check,
  containersOf,
  containersThat,
  isOfWindows,
  named,
  plural,
  quoted,
  setters,
  sorted,
} from "./words.ts"

/** Linux-specific checks do not apply to Windows pods. */
export const unlessWindows =
  (check: Check): Check =>
  (pod) =>
    isOfWindows(pod) ? undefined : check(pod)

export const allowPrivilegeEscalation: Check = (pod) => {
  const bad = containersThat(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false)
  if (bad.length === 0) return undefined
  return {
    reason: "allowPrivilegeEscalation != false",
    detail: `${named("container", bad)} must set securityContext.allowPrivilegeEscalation=false`,
  }
}

export const droppedCapabilities: Check = (pod) => {
  const keeps = containersThat(
    pod,
    ({ securityContext }) => securityContext?.capabilities?.drop?.includes("ALL") !== true,
  )
  const added = ({ securityContext }: Container): string[] =>
    (securityContext?.capabilities?.add ?? []).filter((each) => each !== "NET_BIND_SERVICE")
  const adds = containersThat(pod, (container) => added(container).length > 0)
  const all = sorted(containersOf(pod.spec).flatMap(added))
  const details = [
    ...(keeps.length === 0 ? [] : [`${named("container", keeps)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adds.length === 0
      ? []
      : [`${named("container", adds)} must not include ${quoted(all)} in securityContext.capabilities.add`]),
  ]
  return details.length === 0 ? undefined : { reason: "unrestricted capabilities", detail: details.join("; ") }
}

const allowedVolumes = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
] as const

export const restrictedVolumes: Check = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => allowedVolumes.every((source) => volume[source] === undefined))
  if (bad.length === 0) return undefined
  const types = sorted(bad.map((volume) => Object.keys(volume).find((field) => field !== "name") ?? "unknown"))
  const names = bad.map(({ name }) => name)
  const use = bad.length === 1 ? "uses" : "use"
  return {
    reason: "restricted volume types",
    detail: `${named("volume", names)} ${use} ${plural("restricted volume type", types.length)} ${quoted(types)}`,
  }
}

export const runAsNonRoot: Check = (pod) => {
  const reason = "runAsNonRoot != true"
  const own = pod.spec.securityContext?.runAsNonRoot
  const who = setters(
    own === false,
    containersThat(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false),
  )
  if (who !== "") return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` }
  const silent = containersThat(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined)
  if (own === true || silent.length === 0) return undefined
  return { reason, detail: `pod or ${named("container", silent)} must set securityContext.runAsNonRoot=true` }
}

export const runAsUser: Check = (pod) => {
  const who = setters(
    pod.spec.securityContext?.runAsUser === 0,
    containersThat(pod, ({ securityContext }) => securityContext?.runAsUser === 0),
  )
  return who === "" ? undefined : { reason: "runAsUser=0", detail: `${who} must not set runAsUser=0` }
}

export const givenSeccompProfile: Check = (pod) => {
  const wrong = seccompProfile(pod)
  if (wrong !== undefined) return wrong
  const own = pod.spec.securityContext?.seccompProfile
  const silent = containersThat(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined)
  if ((own !== undefined && !isBadSeccomp(own)) || silent.length === 0) return undefined
  const must = `must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
  return { reason: "seccompProfile", detail: `pod or ${named("container", silent)} ${must}` }
}
