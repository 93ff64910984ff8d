// Containers of a pod: regular, init and ephemeral. Source: k8s.io/kubernetes/pkg/apis/core/validation.

import { trimSpace } from "../../../../apimachinery/texts.ts"
import type { V1ContainerRestartRuleOnExitCodes } from "@kubernetes/client-node"
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  notFoundValue,
  required,
  tooMany,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label } from "../../../../apimachinery/names.ts"
import { hasGivenEmpty, isGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"
import {
  messages,
  named,
  oneOf,
  optionalOneOf,
  portNameRule,
  portNumber,
  requiredValue,
} from "../../validation/values.ts"
import { validateEnv, validateEnvFrom } from "./environment.ts"
import { validateDevices, validateMounts } from "./mounts.ts"
import { validateLifecycle, validateProbes } from "./probes.ts"
import { type ClaimNames, validateRequirements } from "./resources.ts"
import { validateSecurityContext } from "./security.ts"
import type { Container, EphemeralContainer, PodSpec, Volume } from "./types.ts"

/** Upstream's limits per container and per rule. */
const maxRestartRules = 20
const maxExitCodes = 255

/** The parts of the pod that containers refer to. */
export interface ContainerScope {
  spec: PodSpec
  volumes: ReadonlyMap<string, Volume>
  claims: ClaimNames
}

export function validateContainers(path: FieldPath, scope: ContainerScope): FieldError[] {
  const { spec } = scope
  const containers = spec.containers ?? []
  if (containers.length === 0) return [required(path)]
  const names = new Set<string>()
  const errors: FieldError[] = []
  for (const [index, container] of containers.entries()) {
    const at = path.index(index)
    errors.push(...validateCommon(at, container, scope))
    if (names.has(container.name)) errors.push(duplicate(at.child("name"), container.name))
    names.add(container.name)
    errors.push(...validateLiveness(at, container, spec), ...validateRestartPolicy(at, container))
  }
  return [...errors, ...hostPortConflicts(path, containers)]
}

export function validateInitContainers(path: FieldPath, scope: ContainerScope): FieldError[] {
  const names = new Set((scope.spec.containers ?? []).map((container) => container.name))
  const errors: FieldError[] = []
  for (const [index, container] of (scope.spec.initContainers ?? []).entries()) {
    const at = path.index(index)
    errors.push(...validateCommon(at, container, scope))
    // The rules of an init container without restartPolicy are not validated.
    const policy = validateRestartPolicy(at, container)
    errors.push(...(container.restartPolicy === undefined ? policy.slice(0, 1) : policy))
    if (names.has(container.name)) errors.push(duplicate(at.child("name"), container.name))
    else if (container.name) names.add(container.name)
    errors.push(...hostPortConflicts(path, [container]))
    if (container.restartPolicy === "Always") {
      errors.push(...validateLiveness(at, container, scope.spec))
      continue
    }
    for (const field of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const) {
      if (container[field] !== undefined) {
        errors.push(forbiddenField(at.child(field), "may not be set for init containers without restartPolicy=Always"))
      }
    }
    for (const [place, { restartPolicy }] of (container.resizePolicy ?? []).entries()) {
      if (restartPolicy !== "RestartContainer") continue
      const text = "must not be set to 'RestartContainer' for non-sidecar initContainers"
      errors.push(invalidValue(at.child("resizePolicy").index(place).child("restartPolicy"), restartPolicy, text))
    }
  }
  return errors
}

/** Fields that ephemeral containers may not have, in the order of upstream's struct. */
const notEphemeral = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
] as const

/** Only for pods: templates with such images existed before the rule, so they stay valid. */
export function trimmedImage(at: FieldPath, image = ""): FieldError[] {
  return image === trimSpace(image) ? [] : [invalidValue(at, image, "must not have leading or trailing whitespace")]
}

export function validateEphemeralContainers(path: FieldPath, scope: ContainerScope): FieldError[] {
  const { spec } = scope
  const others = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name }) => name))
  const names = new Set(others)
  return (spec.ephemeralContainers ?? []).flatMap((container, index) => {
    const at = path.index(index)
    const errors = validateCommon(at, container, scope)
    errors.push(...trimmedImage(at.child("image"), container.image))
    if (names.has(container.name)) errors.push(duplicate(at.child("name"), container.name))
    names.add(container.name)
    if (container.targetContainerName && !others.has(container.targetContainerName)) {
      errors.push(notFoundValue(at.child("targetContainerName"), container.targetContainerName))
    }
    for (const field of notEphemeral) {
      if (!isSet(container, field)) continue
      errors.push(forbiddenField(at.child(field), "cannot be set for an Ephemeral Container"))
    }
    for (const [place, mount] of (container.volumeMounts ?? []).entries()) {
      for (const field of ["subPath", "subPathExpr"] as const) {
        if (!mount[field]) continue
        errors.push(
          forbiddenField(
            at.child("volumeMounts").index(place).child(field),
            "cannot be set for an Ephemeral Container",
          ),
        )
      }
    }
    return errors
  })
}

function isSet(container: EphemeralContainer, field: (typeof notEphemeral)[number]): boolean {
  const value = container[field]
  if (field !== "resources") return value !== undefined || isGivenEmpty(container, field)
  return Object.keys(value ?? {}).length > 0 || hasGivenEmpty(value)
}

function validateCommon(path: FieldPath, container: Container, scope: ContainerScope): FieldError[] {
  return [
    ...named(path.child("name"), container.name, validateDNS1123Label),
    ...requiredValue(path.child("image"), container.image),
    ...oneOf(path.child("terminationMessagePolicy"), container.terminationMessagePolicy, [
      "File",
      "FallbackToLogsOnError",
    ]),
    ...validatePorts(path.child("ports"), container.ports),
    ...validateEnv(path.child("env"), container.env),
    ...validateEnvFrom(path.child("envFrom"), container.envFrom),
    ...validateMounts(path.child("volumeMounts"), container, scope.volumes),
    ...validateDevices(path.child("volumeDevices"), container, scope.volumes),
    ...oneOf(path.child("imagePullPolicy"), container.imagePullPolicy, ["Always", "IfNotPresent", "Never"]),
    ...validateRequirements(path.child("resources"), container.resources, scope.claims),
    ...validateResizePolicy(path.child("resizePolicy"), container, scope.spec),
    ...validateSecurityContext(
      path.child("securityContext"),
      container.securityContext,
      scope.spec.hostUsers !== false,
    ),
  ]
}

function validateLiveness(path: FieldPath, container: Container, spec: PodSpec): FieldError[] {
  const graceSeconds = spec.terminationGracePeriodSeconds
  return [
    ...(container.lifecycle === undefined
      ? []
      : validateLifecycle(path.child("lifecycle"), container.lifecycle, graceSeconds, spec.os?.name)),
    ...validateProbes(path, container, graceSeconds),
  ]
}

function validatePorts(path: FieldPath, ports: Container["ports"]): FieldError[] {
  const names = new Set<string>()
  return (ports ?? []).flatMap((port, index) => {
    const at = path.index(index)
    const errors: FieldError[] = []
    if (port.name) {
      const faults = portNameRule(port.name)
      if (faults.length > 0) errors.push(...messages(at.child("name"), port.name, faults))
      else if (names.has(port.name)) errors.push(duplicate(at.child("name"), port.name))
      else names.add(port.name)
    }
    if (!port.containerPort) errors.push(required(at.child("containerPort")))
    else errors.push(...portNumber(at.child("containerPort"), port.containerPort))
    if (port.hostPort) errors.push(...portNumber(at.child("hostPort"), port.hostPort))
    return [...errors, ...oneOf(at.child("protocol"), port.protocol, ["SCTP", "TCP", "UDP"])]
  })
}

function hostPortConflicts(path: FieldPath, containers: readonly Container[]): FieldError[] {
  const taken = new Set<string>()
  return containers.flatMap((container, index) =>
    (container.ports ?? []).flatMap((port, place) => {
      if (!port.hostPort) return []
      const key = `${port.protocol}/${port.hostIP ?? ""}/${port.hostPort}`
      if (taken.has(key)) return [duplicate(path.index(index).child("ports").index(place).child("hostPort"), key)]
      taken.add(key)
      return []
    }),
  )
}

function validateRestartPolicy(path: FieldPath, container: Container): FieldError[] {
  const rules = container.restartPolicyRules ?? []
  const errors = optionalOneOf(path.child("restartPolicy"), container.restartPolicy, ["Always", "Never", "OnFailure"])
  if (container.restartPolicy === undefined && rules.length > 0) {
    errors.push(required(path.child("restartPolicy"), "must specify restartPolicy when restart rules are used"))
  }
  const at = path.child("restartPolicyRules")
  if (rules.length > maxRestartRules) errors.push(tooMany(at, rules.length, maxRestartRules))
  for (const [index, { action, exitCodes }] of rules.entries()) {
    const rule = at.index(index)
    errors.push(...optionalOneOf(rule.child("action"), action ?? "", ["Restart", "RestartAllContainers"]))
    const codes = rule.child("exitCodes")
    if (exitCodes === undefined) errors.push(required(codes, "must be specified"))
    else errors.push(...validateExitCodes(codes, exitCodes))
  }
  return errors
}

function validateExitCodes(
  path: FieldPath,
  { operator, values = [] }: V1ContainerRestartRuleOnExitCodes,
): FieldError[] {
  const errors = optionalOneOf(path.child("operator"), operator ?? "", ["In", "NotIn"])
  if (values.length > maxExitCodes) errors.push(tooMany(path.child("values"), values.length, maxExitCodes))
  return errors
}

function validateResizePolicy(path: FieldPath, container: Container, spec: PodSpec): FieldError[] {
  const seen = new Set<string>()
  return (container.resizePolicy ?? []).flatMap((policy, index) => {
    const errors = seen.has(policy.resourceName) ? [duplicate(path.index(index), policy.resourceName ?? "")] : []
    seen.add(policy.resourceName)
    errors.push(...oneOf(path, policy.resourceName, ["cpu", "memory"]))
    errors.push(...oneOf(path, policy.restartPolicy, ["NotRequired", "RestartContainer"]))
    if (spec.restartPolicy === "Never" && policy.restartPolicy !== "NotRequired") {
      errors.push(
        invalidValue(path, policy.restartPolicy ?? "", "must be 'NotRequired' when pod `restartPolicy` is 'Never'"),
      )
    }
    return errors
  })
}
