// Volume sources that pods and PersistentVolumes share, with their required fields. Many of these storage systems hardly exist any
// more, but the fields are still validated. Source: k8s.io/kubernetes/pkg/apis/core/validation.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import {
  type FieldError,
  type FieldPath,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label, validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import { csiDriverName, inclusiveRange, messages, within } from "../../validation/values.ts"
import { initiatorFault } from "./initiators.ts"

/** A source as received; its fields depend on the kind of source. */
export type VolumeSource = Readonly<Record<string, unknown>>
/**
 * `persistent`: the source of a PersistentVolume, in which secret references have a namespace. `volumeName`: the name of that
 * PersistentVolume.
 */
type SourceCheck = (path: FieldPath, source: VolumeSource, persistent: boolean, volumeName: string) => FieldError[]

const maxLun = 255
const maxTenant = 64
const maxInitiatorName = 64
const hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
]
export const initiatorTooLong =
  "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."
const hostAndPort = "must be a host:port pair or multiple pairs separated by commas"

/** Required fields. */
const needs: Readonly<Record<string, readonly string[]>> = dictionary({
  awsElasticBlockStore: ["volumeID"],
  azureFile: ["secretName", "shareName"],
  azureDisk: ["diskName", "diskURI"],
  cephfs: ["monitors"],
  cinder: ["volumeID"],
  flexVolume: ["driver"],
  gcePersistentDisk: ["pdName"],
  gitRepo: ["repository"],
  glusterfs: ["endpoints", "path"],
  iscsi: ["targetPortal"],
  nfs: ["server", "path"],
  photonPersistentDisk: ["pdID"],
  portworxVolume: ["volumeID"],
  rbd: ["monitors", "image"],
  scaleIO: ["gateway", "system", "volumeName"],
  vsphereVolume: ["volumePath"],
})

/** Names of sources in upstream's errors, if they differ from the field's name. */
const shownAs: Readonly<Record<string, string>> = dictionary({ gcePersistentDisk: "persistentDisk" })

const checks: Readonly<Record<string, SourceCheck>> = dictionary({
  awsElasticBlockStore: partition,
  gcePersistentDisk: partition,
  azureDisk: checkAzureDisk,
  azureFile: (path, { secretNamespace }) => (secretNamespace === "" ? [required(path.child("secretNamespace"))] : []),
  cinder: (path, { secretRef }, persistent) => secretNamed(path.child("secretRef"), secretRef, persistent),
  csi: checkCSI,
  fc: checkFibreChannel,
  flexVolume: (path, { options }) => Object.keys((options ?? {}) as object).flatMap((key) => ownOption(path, key)),
  flocker: checkFlocker,
  gitRepo: (path, source) => descendingPath(path.child("directory"), text(source, "directory")),
  glusterfs: (path, source) => {
    if (source["endpointsNamespace"] === undefined) return []
    const namespace = text(source, "endpointsNamespace")
    const at = path.child("endpointsNamespace")
    return namespace === ""
      ? [invalidValue(at, "", "if the endpointnamespace is set, it must be a valid namespace name")]
      : messages(at, namespace, validateDNS1123Label(namespace))
  },
  hostPath: (path, source) => {
    const place = text(source, "path")
    if (place === "") return [required(path.child("path"))]
    const type = source["type"]
    return [
      ...noParentSegments(path.child("path"), place),
      ...(typeof type === "string" && !hostPathTypes.includes(type)
        ? [notSupported(path.child("type"), type, hostPathTypes)]
        : []),
    ]
  },
  iscsi: checkISCSI,
  local: (path, source) => {
    const place = text(source, "path")
    return place === "" ? [required(path.child("path"))] : noParentSegments(path.child("path"), place)
  },
  nfs: (path, source) =>
    text(source, "path").startsWith("/")
      ? []
      : [invalidValue(path.child("path"), text(source, "path"), "must be an absolute path")],
  quobyte: checkQuobyte,
  storageos: checkStorageOS,
})

/** Undefined for sources that only pods have, whose validation needs more context. */
export function validateVolumeSource(
  parent: FieldPath,
  name: string,
  source: VolumeSource,
  persistent: boolean,
  volumeName = "",
): FieldError[] | undefined {
  const fields = needs[name]
  const check = checks[name]
  if (fields === undefined && check === undefined) return undefined
  const path = parent.child(shownAs[name] ?? name)
  const missing = (fields ?? []).filter((field) => isEmpty(source[field])).map((field) => required(path.child(field)))
  return [...missing, ...(check?.(path, source, persistent, volumeName) ?? [])]
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)
}

function text(source: VolumeSource, field: string): string {
  const value = source[field]
  return typeof value === "string" ? value : ""
}

function partition(path: FieldPath, { partition: number }: VolumeSource): FieldError[] {
  return typeof number === "number" && (number < 0 || number > 255)
    ? [invalidValue(path.child("partition"), number, inclusiveRange(1, 255))]
    : []
}

function secretNamed(path: FieldPath, reference: unknown, persistent: boolean): FieldError[] {
  if (typeof reference !== "object" || reference === null) return []
  const fields = persistent ? ["name", "namespace"] : ["name"]
  return fields
    .filter((field) => isEmpty((reference as VolumeSource)[field]))
    .map((field) => required(path.child(field)))
}

function checkAzureDisk(path: FieldPath, source: VolumeSource): FieldError[] {
  const { kind, cachingMode } = source
  const uri = text(source, "diskURI")
  const at = path.child("diskURI")
  const errors: FieldError[] = []
  const supported = (field: string, value: unknown, words: readonly string[]): void => {
    if (typeof value === "string" && !words.includes(value)) errors.push(notSupported(path.child(field), value, words))
  }
  supported("cachingMode", cachingMode, ["None", "ReadOnly", "ReadWrite"])
  supported("kind", kind, ["Dedicated", "Managed", "Shared"])
  if (kind === "Managed" && !uri.startsWith("/subscriptions/")) {
    errors.push(
      notSupported(at, uri, [
        "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
      ]),
    )
  } else if (typeof kind === "string" && kind !== "Managed" && !uri.startsWith("https://")) {
    errors.push(
      notSupported(at, uri, ["https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"]),
    )
  }
  return errors
}

const volumeSecrets = [
  "controllerPublishSecretRef",
  "controllerExpandSecretRef",
  "nodePublishSecretRef",
  "nodeExpandSecretRef",
]

function checkCSI(path: FieldPath, source: VolumeSource, persistent: boolean): FieldError[] {
  const errors = csiDriverName(path.child("driver"), text(source, "driver"))
  if (persistent) {
    if (text(source, "volumeHandle") === "") errors.push(required(path.child("volumeHandle")))
    for (const field of volumeSecrets) errors.push(...validSecret(path.child(field), source[field]))
    return errors
  }
  const reference = source["nodePublishSecretRef"] as VolumeSource | undefined
  if (reference === undefined) return errors
  const name = text(reference, "name")
  if (name === "") return [...errors, required(path.child("nodePublishSecretRef", "name"))]
  return [...errors, ...messages(path.child("name"), name, validateDNS1123Subdomain(name))]
}

function validSecret(path: FieldPath, reference: unknown): FieldError[] {
  if (typeof reference !== "object" || reference === null) return []
  const rules = { name: validateDNS1123Subdomain, namespace: validateDNS1123Label }
  return Object.entries(rules).flatMap(([field, rule]) => {
    const value = text(reference as VolumeSource, field)
    return value === "" ? [required(path.child(field))] : messages(path.child(field), value, rule(value))
  })
}

function checkFibreChannel(path: FieldPath, source: VolumeSource): FieldError[] {
  const targets = (source["targetWWNs"] ?? []) as readonly string[]
  const ids = (source["wwids"] ?? []) as readonly string[]
  const at = path.child("targetWWNs")
  const errors: FieldError[] = []
  if (targets.length + ids.length === 0) {
    errors.push(required(at, "must specify either targetWWNs or wwids, but not both"))
  }
  if (targets.length > 0 && ids.length > 0) {
    errors.push(invalidValue(at, targets, "targetWWNs and wwids can not be specified simultaneously"))
  }
  if (targets.length === 0) return errors
  if (typeof source["lun"] !== "number") {
    return [...errors, required(path.child("lun"), "lun is required if targetWWNs is specified")]
  }
  return [...errors, ...within(path.child("lun"), source["lun"], 0, maxLun)]
}

function ownOption(path: FieldPath, key: string): FieldError[] {
  const namespace = `.${(key.split("/")[0] ?? "").toLowerCase()}`
  return namespace.endsWith(".kubernetes.io") || namespace.endsWith(".k8s.io")
    ? [invalidValue(path.child("options").key(key), key, "kubernetes.io and k8s.io namespaces are reserved")]
    : []
}

function checkFlocker(path: FieldPath, source: VolumeSource): FieldError[] {
  const name = text(source, "datasetName")
  const uuid = text(source, "datasetUUID")
  const errors: FieldError[] = []
  if (name === "" && uuid === "") errors.push(required(path, "one of datasetName and datasetUUID is required"))
  if (name !== "" && uuid !== "") {
    errors.push(invalidValue(path, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
  }
  if (name.includes("/")) errors.push(invalidValue(path.child("datasetName"), name, "must not contain '/'"))
  return errors
}

function checkISCSI(path: FieldPath, source: VolumeSource, persistent: boolean, volumeName: string): FieldError[] {
  const errors: FieldError[] = []
  const portal = text(source, "targetPortal")
  const hasInitiator = source["initiatorName"] !== undefined
  if (persistent && hasInitiator && Buffer.byteLength(`${volumeName}:${portal}`) > maxInitiatorName)
    errors.push(invalidValue(path.child("targetportal"), portal, initiatorTooLong))
  const named = (field: string, at: string): void => {
    const fault = initiatorFault(text(source, field), persistent)
    if (fault !== undefined) errors.push(invalidValue(path.child(at), text(source, field), fault))
  }
  if (text(source, "iqn") === "") errors.push(required(path.child("iqn")))
  else named("iqn", "iqn")
  errors.push(...within(path.child("lun"), source["lun"] as number | undefined, 0, maxLun))
  const authenticated = source["chapAuthDiscovery"] === true || source["chapAuthSession"] === true
  if (authenticated && source["secretRef"] === undefined) errors.push(required(path.child("secretRef")))
  if (persistent) errors.push(...secretNamed(path.child("secretRef"), source["secretRef"], false))
  if (hasInitiator) named("initiatorName", "initiatorname")
  return errors
}

function checkQuobyte(path: FieldPath, source: VolumeSource): FieldError[] {
  const registry = text(source, "registry")
  const at = path.child("registry")
  const errors: FieldError[] = []
  if (registry === "") errors.push(required(at, hostAndPort))
  else if (Buffer.byteLength(text(source, "tenant")) > maxTenant) {
    errors.push(required(path.child("tenant"), "must be a UUID and may not exceed a length of 64 characters"))
  } else {
    for (const pair of registry.split(",")) {
      if (!/^(\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(pair)) errors.push(invalidValue(at, registry, hostAndPort))
    }
  }
  return text(source, "volume") === "" ? [...errors, required(path.child("volume"))] : errors
}

function checkStorageOS(path: FieldPath, source: VolumeSource, persistent: boolean): FieldError[] {
  const name = text(source, "volumeName")
  const namespace = text(source, "volumeNamespace")
  return [
    ...(name === ""
      ? [required(path.child("volumeName"))]
      : messages(path.child("volumeName"), name, validateDNS1123Label(name))),
    ...(namespace === "" ? [] : messages(path.child("volumeNamespace"), namespace, validateDNS1123Label(namespace))),
    ...secretNamed(path.child("secretRef"), source["secretRef"], persistent),
  ]
}

/** Relative, and without "..". */
export function descendingPath(path: FieldPath, value: string): FieldError[] {
  return [
    ...(value.startsWith("/") ? [invalidValue(path, value, "must be a relative path")] : []),
    ...noParentSegments(path, value),
  ]
}

export function noParentSegments(path: FieldPath, value: string): FieldError[] {
  return value.split("/").includes("..") ? messages(path, value, ["must not contain '..'"]) : []
}
