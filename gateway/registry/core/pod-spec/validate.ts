// Validates a complete pod spec, of pods and of workload templates. Source: k8s.io/kubernetes/pkg/apis/core/validation
// ValidatePodSpec. The order of checks is the order of messages.

import { byName } from "../../../../apimachinery/repeats.ts"
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  notFoundValue,
  required,
  tooLong,
} from "../../../../apimachinery/field-errors.ts"
import {
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validateDNS1123SubdomainWithUnderscore,
  validateQualifiedName,
} from "../../../../apimachinery/names.ts"
import type { ObjectMeta, PodTemplateSpec } from "../../../../apimachinery/object.ts"
import { atOnce, type Steps } from "../../../../apimachinery/steps.ts"
import { validateLabels } from "../../validation/selectors.ts"
import { legacyAddress } from "../../validation/addresses.ts"
import { maxInt32, messages, oneOf, within } from "../../validation/values.ts"
import {
  type ContainerScope,
  validateContainers,
  validateEphemeralContainers,
  validateInitContainers,
} from "./containers.ts"
import { validateOperatingSystem } from "./operating-system.ts"
import { isMirror } from "../../../../apimachinery/core/mirror-pods.ts"
import { containersWithPaths, validatePodAnnotations, validateProfilesMatch } from "./annotations.ts"
import { validatePodClaims } from "./claims.ts"
import { validatePodResources } from "./pod-resources.ts"
import { ClaimNames, validateRequirements } from "./resources.ts"
import { validateAffinity, validateSpread, validateTolerations } from "./scheduling.ts"
import { validatePodSecurityContext } from "./security.ts"
import type { PodSpec, Volume } from "./types.ts"
import { validatingVolumes } from "./volumes.ts"
import { validateHostProcess } from "./windows.ts"

/** `pod` is set for pods: its name is part of the names of objects created for the pod's volumes. */
export function* validatingPodSpec(path: FieldPath, spec: PodSpec, pod?: ObjectMeta): Steps<FieldError[]> {
  const podName = pod && (pod.name ?? "")
  const volumes = yield* validatingVolumes(path.child("volumes"), spec.volumes, podName)
  const scope: ContainerScope = {
    spec,
    volumes: volumes.known,
    claims: new ClaimNames(spec.resourceClaims),
  }
  return [
    ...volumes.errors,
    ...validatePodClaims(path.child("resourceClaims"), spec.resourceClaims, pod !== undefined && isMirror(pod)),
    ...validateContainers(path.child("containers"), scope),
    ...validateInitContainers(path.child("initContainers"), scope),
    ...validateEphemeralContainers(path.child("ephemeralContainers"), scope),
    ...validatePodResources(path.child("resources"), spec, scope.claims),
    ...validateHostNetwork(path.child("containers"), spec, podName !== undefined),
    ...oneOf(path.child("restartPolicy"), spec.restartPolicy, ["Always", "OnFailure", "Never"]),
    ...oneOf(path.child("dnsPolicy"), spec.dnsPolicy, ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]),
    ...validateLabels(path.child("nodeSelector"), spec.nodeSelector),
    ...validatePodSecurityContext(path.child("securityContext"), spec),
    ...validateAffinity(path.child("affinity"), spec.affinity),
    ...validateDNSConfig(path.child("dnsConfig"), spec),
    ...(spec.readinessGates ?? []).flatMap(({ conditionType = "" }: { conditionType?: string }, index) =>
      messages(
        path.child("readinessGates").index(index).child("conditionType"),
        conditionType,
        validateQualifiedName(conditionType),
      ),
    ),
    ...validateGates(path.child("schedulingGates"), spec.schedulingGates),
    ...validateSpread(path.child("topologySpreadConstraints"), spec.topologySpreadConstraints),
    ...validateHostProcess(path, spec),
    ...validateHostUsers(path, spec),
    ...validateHostname(path.child("hostnameOverride"), spec),
    ...validateNamesAndNumbers(path, spec),
    ...validateFileVariables(path, spec),
  ]
}

/** Environment variables from files must be in an emptyDir volume. */
function validateFileVariables(path: FieldPath, spec: PodSpec): FieldError[] {
  let volumes: ReadonlyMap<string, Volume> | undefined
  return (["initContainers", "containers", "ephemeralContainers"] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap((container, index) =>
      (container.env ?? []).flatMap(({ valueFrom }, place) => {
        const reference = valueFrom?.fileKeyRef
        if (reference === undefined) return []
        const at = path
          .child(list)
          .index(index)
          .child("env")
          .index(place)
          .child("valueFrom", "fileKeyRef", "volumeName")
        const name = reference.volumeName ?? ""
        const volume = (volumes ??= byName(spec.volumes ?? [])).get(name)
        if (volume === undefined) return [notFoundValue(at, name)]
        return volume.emptyDir === undefined
          ? [invalidValue(at, name, "referenced volume must be of type emptyDir")]
          : []
      }),
    ),
  )
}

function validateNamesAndNumbers(path: FieldPath, spec: PodSpec): FieldError[] {
  const name = (field: string, value: string | undefined, rule: (name: string) => string[]): FieldError[] =>
    value ? messages(path.child(field), value, rule(value)) : []
  return [
    ...name("serviceAccountName", spec.serviceAccountName, validateDNS1123Subdomain),
    ...name("nodeName", spec.nodeName, validateDNS1123Subdomain),
    ...within(path.child("activeDeadlineSeconds"), spec.activeDeadlineSeconds, 1, maxInt32),
    ...name("hostname", spec.hostname, validateDNS1123Label),
    ...name("subdomain", spec.subdomain, validateDNS1123Label),
    ...validateTolerations(path.child("tolerations"), spec.tolerations),
    ...(spec.hostAliases ?? []).flatMap((alias, index) => {
      const at = path.child("hostAliases").index(index)
      return [
        ...legacyAddress(at.child("ip"), alias.ip ?? ""),
        ...(alias.hostnames ?? []).flatMap((host, place) =>
          messages(at.child("hostnames").index(place), host, validateDNS1123Subdomain(host)),
        ),
      ]
    }),
    ...name("priorityClassName", spec.priorityClassName, validateDNS1123Subdomain),
    ...(spec.runtimeClassName === undefined
      ? []
      : messages(
          path.child("runtimeClassName"),
          spec.runtimeClassName,
          validateDNS1123Subdomain(spec.runtimeClassName),
        )),
    ...(spec.preemptionPolicy === undefined
      ? []
      : oneOf(path.child("preemptionPolicy"), spec.preemptionPolicy, ["PreemptLowerPriority", "Never"])),
    ...(spec.overhead === undefined
      ? []
      : validateRequirements(path.child("overhead"), { limits: spec.overhead }, new ClaimNames())),
    ...validateOperatingSystem(path, spec),
  ]
}

function validateHostNetwork(path: FieldPath, spec: PodSpec, isPod: boolean): FieldError[] {
  if (spec.hostNetwork !== true) return []
  return (spec.containers ?? []).flatMap((container, index) =>
    (container.ports ?? []).flatMap((port, place) => {
      const host = port.hostPort ?? 0
      if ((!isPod && host === 0) || host === port.containerPort) return []
      return [
        invalidValue(
          path.index(index).child("ports").index(place).child("hostPort"),
          host,
          "must match `containerPort` when `hostNetwork` is true",
        ),
      ]
    }),
  )
}

/** As upstream, the errors have the names of internal fields. */
function validateHostUsers(path: FieldPath, spec: PodSpec): FieldError[] {
  if (spec.hostUsers !== false) return []
  const errors: FieldError[] = []
  const why = "when `hostUsers` is false"
  if (spec.hostNetwork === true) errors.push(forbiddenField(path.child("hostNetwork"), why))
  if (spec.hostPID === true) errors.push(forbiddenField(path.child("HostPID"), why))
  if (spec.hostIPC === true) errors.push(forbiddenField(path.child("HostIPC"), why))
  const mapped = containersWithPaths(path, spec).filter(([, { volumeDevices = [] }]) => volumeDevices.length > 0)
  return [...errors, ...mapped.map(([at]) => forbiddenField(at.child("volumeDevices"), why))]
}

const longestHostname = 64

function validateHostname(path: FieldPath, spec: PodSpec): FieldError[] {
  const { hostnameOverride: name } = spec
  if (name === undefined) return []
  const errors: FieldError[] = []
  for (const field of ["setHostnameAsFQDN", "hostNetwork"] as const) {
    if (spec[field] === true) errors.push(forbiddenField(path, `may not be specified when ${field} is true`))
  }
  if (Buffer.byteLength(name) > longestHostname) errors.push(tooLong(path, "", longestHostname))
  return [...errors, ...messages(path, name, validateDNS1123Subdomain(name))]
}

const nameServers = 3
const searchPaths = 32
const searchCharacters = 2048

function validateDNSConfig(path: FieldPath, spec: PodSpec): FieldError[] {
  const config = spec.dnsConfig
  if (spec.dnsPolicy === "None") {
    if (config === undefined) return [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
    if ((config.nameservers ?? []).length === 0) {
      return [required(path.child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None")]
    }
  }
  const { nameservers = [], searches = [], options = [] } = config ?? {}
  const errors: FieldError[] = []
  if (nameservers.length > nameServers) {
    errors.push(invalidValue(path.child("nameservers"), nameservers, "must not have more than 3 nameservers"))
  }
  errors.push(
    ...nameservers.flatMap((address, index) => legacyAddress(path.child("nameservers").index(index), address)),
  )
  if (searches.length > searchPaths) {
    errors.push(invalidValue(path.child("searches"), searches, "must not have more than 32 search paths"))
  }
  if (Buffer.byteLength(searches.join(" ")) > searchCharacters) {
    errors.push(
      invalidValue(
        path.child("searches"),
        searches,
        "must not have more than 2048 characters (including spaces) in the search list",
      ),
    )
  }
  for (const [index, search] of searches.entries()) {
    if (search !== ".") errors.push(...messages(path.child("searches").index(index), search, searchRule(search)))
  }
  for (const [index, option] of options.entries()) {
    if (!option.name) errors.push(required(path.child("options").index(index), "must not be empty"))
  }
  return errors
}

/** A trailing dot denotes the DNS root. */
function searchRule(search: string): string[] {
  return validateDNS1123SubdomainWithUnderscore(search.replace(/\.$/, ""))
}

function validateGates(path: FieldPath, gates: PodSpec["schedulingGates"]): FieldError[] {
  const seen = new Set<string>()
  return (gates ?? []).flatMap(({ name }, index) => {
    const errors = messages(path.index(index), name ?? "", validateQualifiedName(name ?? ""))
    if (seen.has(name)) errors.push(duplicate(path.index(index), name))
    seen.add(name)
    return errors
  })
}

/** Validates a workload's template: only `labels` and the spec. Other metadata is validated when a pod is created. */
export function validatePodTemplate(path: FieldPath, template: PodTemplateSpec): FieldError[] {
  const spec = template.spec ?? { containers: [] }
  const errors = [
    ...validateLabels(path.child("labels"), template.metadata?.labels),
    ...Object.keys(template.metadata?.annotations ?? {}).flatMap((key) =>
      messages(path.child("annotations"), key, validateQualifiedName(key.toLowerCase())),
    ),
    ...validatePodAnnotations(path.child("annotations"), template.metadata?.annotations, spec),
    ...atOnce(validatingPodSpec(path.child("spec"), spec)),
    ...validateProfilesMatch(path.child("spec"), template.metadata?.annotations, spec),
  ]
  if ((template.spec?.ephemeralContainers ?? []).length > 0) {
    errors.push(
      forbiddenField(path.child("spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template"),
    )
  }
  return errors
}
