// Validates what kubelets and schedulers report of devices, users and images in a pod's status. Source:
// k8s.io/kubernetes/pkg/apis/core/validation and pkg/api/pod (fields that are disabled by default).

import { byName } from "../../../../apimachinery/repeats.ts"
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label, validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import type { ContainerStatus, Pod } from "../../../../apimachinery/object.ts"
import { inclusiveRange, maxInt32, messages } from "../../validation/values.ts"
import type { Container, PodSpec } from "../pod-spec/types.ts"

type Status = NonNullable<Pod["status"]>

const lists = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] as const
const healths = ["Healthy", "Unhealthy", "Unknown"]
/** Maximum size of the message about a device's health, in bytes. */
const maxHealthMessage = 1024

export function dropDisabledOfStatus(status: Status): void {
  delete (status as { nodeAllocatableResourceClaimStatuses?: unknown }).nodeAllocatableResourceClaimStatuses
  for (const list of lists) {
    for (const { volumeMounts } of status[list] ?? []) {
      for (const mount of volumeMounts ?? []) delete (mount as { volumeStatus?: unknown }).volumeStatus
    }
  }
}

export function validateReported(path: FieldPath, status: Status, spec: PodSpec): FieldError[] {
  return [
    ...lists.flatMap((list) => validateUsers(path.child(list), status[list] ?? [], spec.os?.name)),
    ...validateDevices(path.child("containerStatuses"), status.containerStatuses ?? [], spec.containers),
    ...validateDevices(path.child("initContainerStatuses"), status.initContainerStatuses ?? [], spec.initContainers),
    ...(status.ephemeralContainerStatuses ?? []).flatMap(({ allocatedResourcesStatus = [] }, index) => {
      const at = path.child("ephemeralContainerStatuses").index(index).child("allocatedResourcesStatus")
      return allocatedResourcesStatus.length === 0
        ? []
        : [forbiddenField(at, "must not be specified in container status")]
    }),
  ]
}

function validateUsers(path: FieldPath, statuses: readonly ContainerStatus[], os = "linux"): FieldError[] {
  return statuses.flatMap(({ user }, index) => {
    const at = path.index(index).child("user", "linux")
    const linux = user?.linux
    if (linux === undefined) return []
    if (os === "windows") return [forbiddenField(at, "cannot be set for a windows pod")]
    return [
      ...validateId(at.child("uid"), linux.uid),
      ...validateId(at.child("gid"), linux.gid),
      ...(linux.supplementalGroups ?? []).flatMap((id, place) =>
        validateId(at.child("supplementalGroups").index(place), id),
      ),
    ]
  })
}

function validateId(path: FieldPath, id = 0): FieldError[] {
  return id < 0 || id > maxInt32 ? [invalidValue(path, id, inclusiveRange(0, maxInt32))] : []
}

function validateDevices(
  path: FieldPath,
  statuses: readonly ContainerStatus[],
  containers: readonly Container[] = [],
): FieldError[] {
  const named = byName(containers)
  return statuses.flatMap((status, index) => {
    const container = named.get(status.name)
    const claims = claimsOf(container)
    return (status.allocatedResourcesStatus ?? []).flatMap(({ name, resources }, place) => {
      const at = path.index(index).child("allocatedResourcesStatus").index(place)
      const fault = container === undefined ? undefined : unknownResource(name, container, claims)
      return [
        ...(fault === undefined ? [] : [invalidValue(at.child("name"), name, fault)]),
        ...validateHealth(at.child("resources"), resources),
      ]
    })
  })
}

function claimsOf(container: Container | undefined): ReadonlySet<string> {
  const claims = container?.resources?.claims ?? []
  return new Set(claims.map((one) => `claim:${one.name}${one.request ? `/${one.request}` : ""}`))
}

/** The error of a resource name that the status reports for a container. */
function unknownResource(name: string, { resources }: Container, claims: ReadonlySet<string>): string | undefined {
  if (name.startsWith("claim:")) {
    return claims.has(name)
      ? undefined
      : "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
  }
  return Object.hasOwn(resources?.requests ?? {}, name)
    ? undefined
    : "must match one of the container's resource requests"
}

interface Health {
  resourceID?: string
  health?: string
  message?: string
}

function validateHealth(path: FieldPath, resources: readonly Health[] = []): FieldError[] {
  const seen = new Set<string>()
  return resources.flatMap(({ resourceID = "", health = "", message }, index) => {
    const at = path.index(index)
    const errors = healths.includes(health) ? [] : [notSupported(at.child("health"), health, healths)]
    if (message === "") errors.push(required(at.child("message"), "must be non-empty if specified"))
    else if (message !== undefined && Buffer.byteLength(message) > maxHealthMessage) {
      errors.push(tooLong(at.child("message"), message, maxHealthMessage))
    }
    if (seen.has(resourceID)) errors.push(duplicate(at.child("resourceID"), resourceID))
    seen.add(resourceID)
    return errors
  })
}

interface ExtendedClaim {
  requestMappings?: readonly { containerName?: string; resourceName?: string; requestName?: string }[] | null
  resourceClaimName?: string
}

/** Validates the claim that was created for the pod's extended resources. */
export function validateExtendedClaim(path: FieldPath, claim: ExtendedClaim | undefined, spec: PodSpec): FieldError[] {
  if (claim === undefined) return []
  const list = path.child("requestMappings")
  const mappings = claim.requestMappings ?? []
  const errors = mappings.length === 0 ? [required(list, "at least one request mapping is required")] : []
  const containers = byName([...(spec.initContainers ?? []), ...(spec.containers ?? [])].toReversed())
  const seen = new Set<string>()
  for (const [index, { containerName = "", resourceName = "", requestName = "" }] of mappings.entries()) {
    const at = list.index(index)
    const container = containers.get(containerName)
    if (container === undefined) {
      const fault = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
      errors.push(invalidValue(at.child("containerName"), containerName, fault))
    } else if (!Object.hasOwn(container.resources?.requests ?? {}, resourceName)) {
      const fault =
        "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests"
      errors.push(invalidValue(at.child("resourceName"), resourceName, fault))
    }
    errors.push(...messages(path.child("requestName"), requestName, validateDNS1123Label(requestName)))
    const key = [containerName, resourceName, requestName].join("\n")
    if (seen.has(key)) {
      errors.push(
        duplicate(at.child("containerName"), containerName),
        duplicate(at.child("resourceName"), resourceName),
        duplicate(at.child("requestName"), requestName),
      )
    }
    seen.add(key)
  }
  const { resourceClaimName: name = "" } = claim
  const named = path.child("resourceClaimName")
  return [...errors, ...(name === "" ? [required(named)] : messages(named, name, validateDNS1123Subdomain(name)))]
}
