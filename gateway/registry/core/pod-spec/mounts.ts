// Volume mounts and volume devices of a container. Source: k8s.io/kubernetes/pkg/apis/core/validation.

import {
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  notFoundValue,
  notSupported,
} from "../../../../apimachinery/field-errors.ts"
import { requiredValue } from "../../validation/values.ts"
import type { Container, Volume, VolumeMount } from "./types.ts"
import { descendingPath } from "../volumes/sources.ts"

type VolumeDevice = NonNullable<Container["volumeDevices"]>[number]
type Volumes = ReadonlyMap<string, Volume>

/** By name; as upstream, of several with the same name only the last counts. */
function pathsOf(entries: readonly (readonly [name: string | undefined, path: string | undefined])[] = []) {
  const byName = new Map(entries.map(([name = "", path = ""]) => [name, path]))
  return { has: (name: string) => byName.has(name), paths: new Set(byName.values()) }
}

export function validateMounts(path: FieldPath, container: Container, volumes: Volumes): FieldError[] {
  const devices = pathsOf(container.volumeDevices?.map(({ name, devicePath }) => [name, devicePath]))
  const seen = new Set<string>()
  return (container.volumeMounts ?? []).flatMap((mount: Partial<VolumeMount>, index) => {
    const at = path.index(index)
    const { name = "", mountPath = "" } = mount
    const errors = requiredValue(at.child("name"), name)
    if (!volumes.has(name)) errors.push(notFoundValue(at.child("name"), name))
    errors.push(...requiredValue(at.child("mountPath"), mountPath))
    if (seen.has(mountPath)) errors.push(invalidValue(at.child("mountPath"), mountPath, "must be unique"))
    seen.add(mountPath)
    if (devices.has(name)) {
      errors.push(invalidValue(at.child("name"), name, "must not already exist in volumeDevices"))
    }
    if (devices.paths.has(mountPath)) {
      const detail = "must not already exist as a path in volumeDevices"
      errors.push(invalidValue(at.child("mountPath"), mountPath, detail))
    }
    return [...errors, ...validateMountOptions(path, at, mount, container)]
  })
}

/** Upstream reports these errors with the path of the list and not of the mount. */
function validateMountOptions(
  list: FieldPath,
  at: FieldPath,
  mount: Partial<VolumeMount>,
  container: Container,
): FieldError[] {
  const errors: FieldError[] = []
  if (mount.subPath) errors.push(...descendingPath(list.child("subPath"), mount.subPath))
  if (mount.subPathExpr) {
    if (mount.subPath) {
      errors.push(
        invalidValue(at.child("subPathExpr"), mount.subPathExpr, "subPathExpr and subPath are mutually exclusive"),
      )
    }
    errors.push(...descendingPath(list.child("subPathExpr"), mount.subPathExpr))
  }
  const propagation = mount.mountPropagation
  if (propagation !== undefined) {
    const supported = ["Bidirectional", "HostToContainer", "None"]
    if (!supported.includes(propagation)) {
      errors.push(notSupported(list.child("mountPropagation"), propagation, supported))
    }
    if (propagation === "Bidirectional" && container.securityContext?.privileged !== true) {
      errors.push(
        forbiddenField(
          list.child("mountPropagation"),
          "Bidirectional mount propagation is available only to privileged containers",
        ),
      )
    }
  }
  return [...errors, ...validateRecursive(list.child("recursiveReadOnly"), mount)]
}

function validateRecursive(at: FieldPath, mount: Partial<VolumeMount>): FieldError[] {
  const { recursiveReadOnly: recursive, readOnly = false, mountPropagation: propagation = "None" } = mount
  if (recursive === undefined || recursive === "Disabled") return []
  if (recursive !== "Enabled" && recursive !== "IfPossible") {
    return [notSupported(at, recursive, ["Disabled", "Enabled", "IfPossible"])]
  }
  const errors = readOnly ? [] : [forbiddenField(at, "may only be specified when readOnly is true")]
  if (propagation !== "None") {
    errors.push(forbiddenField(at, "may only be specified when mountPropagation is None or not specified"))
  }
  return errors
}

export function validateDevices(path: FieldPath, container: Container, volumes: Volumes): FieldError[] {
  const mounts = pathsOf(container.volumeMounts?.map(({ name, mountPath }) => [name, mountPath]))
  const names = new Set<string>()
  const paths = new Set<string>()
  return (container.volumeDevices ?? []).flatMap(({ name = "", devicePath = "" }: Partial<VolumeDevice>, index) => {
    const at = path.index(index)
    const errors = requiredValue(at.child("name"), name)
    const invalid = (field: "name" | "devicePath", detail: string): void => {
      errors.push(invalidValue(at.child(field), field === "name" ? name : devicePath, detail))
    }
    if (names.has(name)) invalid("name", "must be unique")
    const volume = volumes.get(name)
    if (volume === undefined) errors.push(notFoundValue(at.child("name"), name))
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      invalid("name", "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
    }
    errors.push(...requiredValue(at.child("devicePath"), devicePath))
    if (paths.has(devicePath)) invalid("devicePath", "must be unique")
    if (devicePath.split("/").includes("..")) invalid("devicePath", "can not contain backsteps ('..')")
    else paths.add(devicePath)
    if (mounts.has(name)) invalid("name", "must not already exist in volumeMounts")
    if (mounts.paths.has(devicePath)) invalid("devicePath", "must not already exist as a path in volumeMounts")
    if (name !== "") names.add(name)
    return errors
  })
}
