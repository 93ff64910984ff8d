// The checks of level "baseline": known privilege escalations. Each corresponds to its file in k8s.io/pod-security-admission/policy
// (check_*.go), and has its messages.

import { ownValue } from "../../../../apimachinery/schema/json-object.ts"
import { goQuote } from "../../../../apimachinery/go/quote.ts"
import type { Container, PodSpec } from "../../../../apimachinery/object.ts"
import { appArmorOfContainer, seccompOfContainer, seccompOfPod } from "../../../registry/core/pod-spec/annotations.ts"
import {
  type Check,
  containersOf,
  containersThat,
  type Fault,
  named,
  plural,
  quoted,
  setters,
  sorted,
} from "./words.ts"

type SecurityContext = NonNullable<Container["securityContext"]>
type Profile = { type: string } | undefined

export const appArmorProfile: Check = (pod) => {
  const { metadata, spec } = pod
  const isBad = (profile: Profile): boolean =>
    profile !== undefined && profile.type !== "RuntimeDefault" && profile.type !== "Localhost"
  const own = spec.securityContext?.appArmorProfile
  const containers = containersThat(pod, ({ securityContext }) => isBad(securityContext?.appArmorProfile))
  const annotations = sorted(
    Object.entries(metadata.annotations ?? {})
      .filter(([key, value]) => key.startsWith(appArmorOfContainer) && !isAllowedAnnotation(value))
      .map(([key, value]) => `${key}=${goQuote(value)}`),
  )
  const who = [
    setters(isBad(own), containers),
    ...(annotations.length === 0 ? [] : [plural("annotation", annotations.length)]),
  ]
  const named = who.filter((each) => each !== "")
  if (named.length === 0) return undefined
  const profiles = [own, ...containersOf(spec).map(({ securityContext }) => securityContext?.appArmorProfile)]
  const types = sorted(profiles.filter(isBad).map((profile) => profile?.type ?? ""))
  const values = [...types, ...annotations]
  return {
    reason: plural("forbidden AppArmor profile", values.length),
    detail: `${named.join(" and ")} must not set AppArmor profile type to ${quoted(values)}`,
  }
}

function isAllowedAnnotation(value: string): boolean {
  return value === "" || value === "runtime/default" || value.startsWith("localhost/")
}

const defaultCapabilities = new Set(
  "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT".split(
    " ",
  ),
)

export const capabilities: Check = (pod) => {
  const added = ({ securityContext }: Container): string[] =>
    (securityContext?.capabilities?.add ?? []).filter((each) => !defaultCapabilities.has(each))
  const bad = containersThat(pod, (container) => added(container).length > 0)
  if (bad.length === 0) return undefined
  const all = sorted(containersOf(pod.spec).flatMap(added))
  return {
    reason: "non-default capabilities",
    detail: `${named("container", bad)} must not include ${quoted(all)} in securityContext.capabilities.add`,
  }
}

export const hostNamespaces: Check = ({ spec }) => {
  const shared = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((field) => spec[field] === true)
  if (shared.length === 0) return undefined
  return { reason: "host namespaces", detail: shared.map((field) => `${field}=true`).join(", ") }
}

export const hostPathVolumes: Check = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name)
  return bad.length === 0 ? undefined : { reason: "hostPath volumes", detail: named("volume", bad) }
}

export const hostPorts: Check = (pod) => {
  const taken = ({ ports = [] }: Container): string[] =>
    ports.filter(({ hostPort = 0 }) => hostPort !== 0).map(({ hostPort }) => String(hostPort))
  const bad = containersThat(pod, (container) => taken(container).length > 0)
  if (bad.length === 0) return undefined
  const all = sorted(containersOf(pod.spec).flatMap(taken))
  const use = bad.length === 1 ? "uses" : "use"
  return {
    reason: "hostPort",
    detail: `${named("container", bad)} ${use} ${plural("hostPort", all.length)} ${all.join(", ")}`,
  }
}

export const hostsOfProbes: Check = (pod) => {
  const hosts = ({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container): string[] =>
    [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop]
      .flatMap((handler) => [handler?.httpGet?.host ?? "", handler?.tcpSocket?.host ?? ""])
      .filter((host) => host !== "")
  const bad = sorted(containersThat(pod, (container) => hosts(container).length > 0))
  if (bad.length === 0) return undefined
  const all = sorted(containersOf(pod.spec).flatMap(hosts))
  const use = bad.length === 1 ? "uses" : "use"
  return {
    reason: "probe or lifecycle host",
    detail: `${named("container", bad)} ${use} ${named("probe or lifecycle host", all)}`,
  }
}

export const privileged: Check = (pod) => {
  const bad = containersThat(pod, ({ securityContext }) => securityContext?.privileged === true)
  if (bad.length === 0) return undefined
  return { reason: "privileged", detail: `${named("container", bad)} must not set securityContext.privileged=true` }
}

export const procMount: Check = (pod) => {
  const of = ({ securityContext }: Container): string => securityContext?.procMount ?? "Default"
  const bad = containersThat(pod, (container) => of(container) !== "Default")
  if (bad.length === 0) return undefined
  const types = sorted(
    containersOf(pod.spec)
      .map(of)
      .filter((type) => type !== "Default"),
  )
  return {
    reason: "procMount",
    detail: `${named("container", bad)} must not set securityContext.procMount to ${quoted(types)}`,
  }
}

export const seLinuxOptions =
  (allowed: readonly string[]): Check =>
  (pod) => {
    type Options = NonNullable<SecurityContext["seLinuxOptions"]>
    const isBadType = ({ type = "" }: Options): boolean => type !== "" && !allowed.includes(type)
    const isBad = (options: Options | undefined): boolean =>
      options !== undefined && (isBadType(options) || (options.user ?? "") !== "" || (options.role ?? "") !== "")
    const own = pod.spec.securityContext?.seLinuxOptions
    const who = setters(
      isBad(own),
      containersThat(pod, ({ securityContext }) => isBad(securityContext?.seLinuxOptions)),
    )
    if (who === "") return undefined
    const all = [own, ...containersOf(pod.spec).map(({ securityContext }) => securityContext?.seLinuxOptions)].filter(
      (options) => options !== undefined,
    )
    const types = sorted(all.filter(isBadType).map(({ type = "" }) => type))
    const what = [
      ...(types.length === 0 ? [] : [named("type", types)]),
      ...(all.some(({ user = "" }) => user !== "") ? ["user may not be set"] : []),
      ...(all.some(({ role = "" }) => role !== "") ? ["role may not be set"] : []),
    ]
    return {
      reason: "seLinuxOptions",
      detail: `${who} set forbidden securityContext.seLinuxOptions: ${what.join("; ")}`,
    }
  }

/** Used before the field existed. */
export const seccompAnnotations: Check = ({ metadata, spec }) => {
  const annotations = metadata.annotations ?? {}
  const keys = [seccompOfPod, ...containersOf(spec).map(({ name }) => seccompOfContainer + name)]
  const isAllowed = (value: string): boolean =>
    value === "runtime/default" || value === "docker/default" || value.startsWith("localhost/")
  const bad = sorted(
    keys.flatMap((key) => {
      const value = ownValue(annotations, key)
      return value === undefined || isAllowed(value) ? [] : [`${key}=${goQuote(value)}`]
    }),
  )
  if (bad.length === 0) return undefined
  return { reason: "seccompProfile", detail: `forbidden ${plural("annotation", bad.length)} ${bad.join(", ")}` }
}

export function isBadSeccomp(profile: Profile): boolean {
  return profile !== undefined && profile.type !== "Localhost" && profile.type !== "RuntimeDefault"
}

export const seccompProfile: Check = (pod): Fault | undefined => {
  const own = pod.spec.securityContext?.seccompProfile
  const who = setters(
    isBadSeccomp(own),
    containersThat(pod, ({ securityContext }) => isBadSeccomp(securityContext?.seccompProfile)),
  )
  if (who === "") return undefined
  const all = [own, ...containersOf(pod.spec).map(({ securityContext }) => securityContext?.seccompProfile)]
  const types = sorted(all.filter(isBadSeccomp).map((profile) => profile?.type ?? ""))
  return {
    reason: "seccompProfile",
    detail: `${who} must not set securityContext.seccompProfile.type to ${quoted(types)}`,
  }
}

export const sysctls =
  (allowed: readonly string[]): Check =>
  ({ spec }) => {
    const bad = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !allowed.includes(name))
    return bad.length === 0 ? undefined : { reason: "forbidden sysctls", detail: bad.join(", ") }
  }

export const windowsHostProcess: Check = (pod) => {
  const isHost = (context: Pick<NonNullable<PodSpec["securityContext"]>, "windowsOptions"> | undefined): boolean =>
    context?.windowsOptions?.hostProcess === true
  const who = setters(
    isHost(pod.spec.securityContext),
    containersThat(pod, ({ securityContext }) => isHost(securityContext)),
  )
  if (who === "") return undefined
  return { reason: "hostProcess", detail: `${who} must not set securityContext.windowsOptions.hostProcess=true` }
}
