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

type Volumes = ReadonlyMap<string, Volume>

export function validateMounts(path: FieldPath, container: Container, volumes: Volumes): FieldError[] {
  const devices = new Set(container.volumeDevices?.map((device) => device.name))
  const devicePaths = new Set(container.volumeDevices?.map((device) => device.devicePath))
  const seen = new Set<string>()
  return (container.volumeMounts ?? []).flatMap((mount, index) => {
    const at = path.index(index)
    const errors = requiredValue(at.child("name"), mount.name)
    if (!volumes.has(mount.name)) errors.push(notFoundValue(at.child("name"), mount.name ?? ""))
    errors.push(...requiredValue(at.child("mountPath"), mount.mountPath))
    if (seen.has(mount.mountPath)) errors.push(invalidValue(at.child("mountPath"), mount.mountPath, "must be unique"))
    seen.add(mount.mountPath)
    if (devices.has(mount.name)) {
      errors.push(invalidValue(at.child("name"), mount.name, "must not already exist in volumeDevices"))
    }
    if (devicePaths.has(mount.mountPath)) {
      errors.push(
        invalidValue(at.child("mountPath"), mount.mountPath, "must not already exist as a path in volumeDevices"),
      )
    }
    return [...errors, ...validateMountOptions(path, at, mount, container)]
  })
}

/** Upstream reports these errors with the path of the list and not of the mount. */
function validateMountOptions(list: FieldPath, at: FieldPath, mount: VolumeMount, container: Container): FieldError[] {
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

function validateRecursive(at: FieldPath, mount: VolumeMount): FieldError[] {
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
  const mounts = new Set(container.volumeMounts?.map((mount) => mount.name))
  const mountPaths = new Set(container.volumeMounts?.map((mount) => mount.mountPath))
  const names = new Set<string>()
  const paths = new Set<string>()
  return (container.volumeDevices ?? []).flatMap(({ name, devicePath }, index) => {
    const at = path.index(index)
    const volume = volumes.get(name)
    const errors = requiredValue(at.child("name"), name)
    if (names.has(name)) errors.push(invalidValue(at.child("name"), name, "must be unique"))
    if (volume === undefined) errors.push(notFoundValue(at.child("name"), name ?? ""))
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      errors.push(
        invalidValue(
          at.child("name"),
          name,
          "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
        ),
      )
    }
    errors.push(...requiredValue(at.child("devicePath"), devicePath))
    if (paths.has(devicePath)) errors.push(invalidValue(at.child("devicePath"), devicePath, "must be unique"))
    if (devicePath?.split("/").includes("..") === true) {
      errors.push(invalidValue(at.child("devicePath"), devicePath, "can not contain backsteps ('..')"))
    } else paths.add(devicePath)
    if (mounts.has(name)) {
      errors.push(invalidValue(at.child("name"), name, "must not already exist in volumeMounts"))
    }
    if (mountPaths.has(devicePath)) {
      errors.push(invalidValue(at.child("devicePath"), devicePath, "must not already exist as a path in volumeMounts"))
    }
    names.add(name)
    return errors
  })
}
