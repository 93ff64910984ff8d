// Volumes of a pod. Source: k8s.io/kubernetes/pkg/apis/core/validation.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label, validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import { compareQuantities, parseQuantity } from "../../../../apimachinery/quantity.ts"
import { mostAtOnce, type Steps } from "../../../../apimachinery/steps.ts"
import { validateTemplateMetadata } from "../../validation/template-metadata.ts"
import { validatePersistentVolumeClaimSpec } from "../persistentvolumeclaims/validate.ts"
import { messages, named, oneOf, requiredValue } from "../../validation/values.ts"
import { descendingPath, initiatorTooLong, validateVolumeSource, type VolumeSource } from "../volumes/sources.ts"
import { validateFieldRef, validateResourceFieldRef, volumeFields } from "./environment.ts"
import type { KeyToPath, ObjectFieldSelector, ResourceFieldSelector, Volume } from "./types.ts"

/** In upstream's order: if several sources are set, the first is validated. */
const sourceOrder = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "flocker",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "quobyte",
  "downwardAPI",
  "fc",
  "flexVolume",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "storageos",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image",
] as const satisfies readonly (keyof Volume)[]
type SourceName = (typeof sourceOrder)[number]
const sourceNames: ReadonlySet<string> = new Set(sourceOrder)
/** Upstream misspells these names in the errors. */
const forbiddenAs: Readonly<Record<string, string>> = dictionary({ cephfs: "cephFS", downwardAPI: "downwarAPI" })
const maxInitiatorName = 64
const fileMode = "must be a number between 0 and 0777 (octal), both inclusive"
/** `known` receives the volumes that are valid, which mounts may use. */
export function* validatingVolumes(
  path: FieldPath,
  volumes: readonly Volume[] | undefined,
  podName: string | undefined,
): Steps<{ errors: FieldError[]; known: ReadonlyMap<string, Volume> }> {
  const errors: FieldError[] = []
  const known = new Map<string, Volume>()
  const created = new Set(
    (volumes ?? []).filter((volume) => volume.ephemeral !== undefined).map((volume) => `${podName}-${volume.name}`),
  )
  for (const [index, volume] of (volumes ?? []).entries()) {
    if (index % mostAtOnce === mostAtOnce - 1) yield
    const at = path.index(index)
    const faults = validateSource(at, volume, podName)
    faults.push(...named(at.child("name"), volume.name, validateDNS1123Label))
    if (known.has(volume.name)) faults.push(duplicate(at.child("name"), volume.name))
    if (faults.length === 0) known.set(volume.name, volume)
    errors.push(...faults)
    const claim = volume.persistentVolumeClaim?.claimName
    if (podName && claim !== undefined && created.has(claim)) {
      errors.push(
        invalidValue(
          at.child("persistentVolumeClaim", "claimName"),
          claim,
          "must not reference a PVC that gets created for an ephemeral volume",
        ),
      )
    }
  }
  return { errors, known }
}

function validateSource(path: FieldPath, volume: Volume, podName: string | undefined): FieldError[] {
  const [name, ...more] = sourcesOf(volume)
  if (name === undefined) return [required(path, "must specify a volume type")]
  const common = validateVolumeSource(path, name, volume[name] as VolumeSource, false)
  return [
    ...(common ?? ownSources[name]?.(path.child(name), volume, podName !== undefined) ?? []),
    ...more.map((other) =>
      forbiddenField(path.child(forbiddenAs[other] ?? other), "may not specify more than 1 volume type"),
    ),
    ...nameFaults(path.child("name"), volume, name === "ephemeral" ? podName : undefined),
  ]
}

/** Those that are set, in upstream's order. */
function sourcesOf(volume: Volume): SourceName[] {
  const given = Object.keys(volume).filter((key): key is SourceName => sourceNames.has(key))
  const set = given.filter((name) => volume[name] !== undefined)
  return set.length < 2 ? set : sourceOrder.filter((name) => set.includes(name))
}

/** Checks names that become parts of longer names. `owner`: of a claim that is created for the volume. */
function nameFaults(path: FieldPath, { name, iscsi }: Volume, owner: string | undefined): FieldError[] {
  const errors: FieldError[] = []
  if (iscsi?.initiatorName !== undefined && Buffer.byteLength(`${name}:${iscsi.targetPortal}`) > maxInitiatorName) {
    errors.push(invalidValue(path, name, initiatorTooLong))
  }
  if (owner && name) {
    const claim = `${owner}-${name}`
    const faults = validateDNS1123Subdomain(claim).map((fault) => `PVC name ${JSON.stringify(claim)}: ${fault}`)
    errors.push(...messages(path, name, faults))
  }
  return errors
}

/** Sources that only pods have. */
const ownSources: Readonly<Record<string, (path: FieldPath, volume: Volume, isPod: boolean) => FieldError[]>> =
  dictionary({
    emptyDir: (path, { emptyDir }) =>
      emptyDir?.sizeLimit !== undefined && compareQuantities(parseQuantity(emptyDir.sizeLimit), parseQuantity("0")) < 0
        ? [forbiddenField(path.child("sizeLimit"), "SizeLimit field must be a valid resource quantity")]
        : [],
    secret: (path, { secret }) => [
      ...requiredValue(path.child("secretName"), secret?.secretName),
      ...mode(path.child("defaultMode"), secret?.defaultMode),
      ...items(path.child("items"), secret?.items),
    ],
    configMap: (path, { configMap }) => [
      ...requiredValue(path.child("name"), configMap?.name),
      ...mode(path.child("defaultMode"), configMap?.defaultMode),
      ...items(path.child("items"), configMap?.items),
    ],
    downwardAPI: (path, { downwardAPI }) => [
      ...mode(path.child("defaultMode"), downwardAPI?.defaultMode),
      ...(downwardAPI?.items ?? []).flatMap((item) => downwardFile(path, item)),
    ],
    projected: validateProjected,
    persistentVolumeClaim: (path, { persistentVolumeClaim }) =>
      requiredValue(path.child("claimName"), persistentVolumeClaim?.claimName),
    ephemeral: (path, { ephemeral }) => {
      const [at, template] = [path.child("volumeClaimTemplate"), ephemeral?.volumeClaimTemplate]
      if (template === undefined) return [required(at)]
      return [
        ...validateTemplateMetadata(at.child("metadata"), template.metadata),
        ...validatePersistentVolumeClaimSpec(at.child("spec"), template.spec),
      ]
    },
    // Templates may omit the reference, because admission can set it when the pods are created.
    image: (path, { image }, isPod) => [
      ...(isPod ? requiredValue(path.child("reference"), image?.reference) : []),
      ...oneOf(path.child("pullPolicy"), image?.pullPolicy, ["Always", "IfNotPresent", "Never"]),
    ],
  })

function validateProjected(path: FieldPath, { projected }: Volume): FieldError[] {
  const errors = mode(path.child("defaultMode"), projected?.defaultMode)
  const paths = new Set<string>()
  const claim = (place: string | undefined, shown: unknown): void => {
    if (!place) return
    if (paths.has(place)) errors.push(invalidValue(path, shown, "conflicting duplicate paths"))
    paths.add(place)
  }
  for (const [index, source] of (projected?.sources ?? []).entries()) {
    const at = path.child("sources").index(index)
    for (const kind of ["secret", "configMap"] as const) {
      const reference = source[kind]
      if (reference === undefined) continue
      errors.push(...requiredValue(at.child(kind, "name"), reference.name))
      errors.push(...items(at.child(kind, "items"), reference.items))
      for (const item of reference.items ?? []) claim(item.path, reference.name ?? "")
    }
    for (const file of source.downwardAPI?.items ?? []) {
      errors.push(...downwardFile(at.child("downwardAPI"), file))
      claim(file.path, file.path)
    }
    const token = source.serviceAccountToken
    if (token !== undefined) {
      const seconds = token.expirationSeconds ?? 0
      const place = at.child("serviceAccountToken", "expirationSeconds")
      if (seconds < 600) errors.push(invalidValue(place, seconds, "may not specify a duration less than 10 minutes"))
      if (seconds > 2 ** 32) {
        errors.push(invalidValue(place, seconds, "may not specify a duration larger than 2^32 seconds"))
      }
      errors.push(...(token.path ? localPath(path.child("path"), token.path) : [required(path.child("path"))]))
    }
    if (Object.values(source).filter((value) => value !== undefined).length > 1) {
      errors.push(forbiddenField(at, "may not specify more than 1 volume type per source"))
    }
  }
  return errors
}

function downwardFile(
  path: FieldPath,
  file: { path: string; mode?: number; fieldRef?: ObjectFieldSelector; resourceFieldRef?: ResourceFieldSelector },
): FieldError[] {
  const errors = [...requiredValue(path.child("path"), file.path), ...localPath(path.child("path"), file.path ?? "")]
  if (file.fieldRef !== undefined) {
    errors.push(...validateFieldRef(path.child("fieldRef"), file.fieldRef, volumeFields))
    if (file.resourceFieldRef !== undefined) {
      errors.push(invalidValue(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
    }
  } else if (file.resourceFieldRef !== undefined) {
    errors.push(...validateResourceFieldRef(path.child("resourceFieldRef"), file.resourceFieldRef, true))
  } else errors.push(required(path, "one of fieldRef and resourceFieldRef is required"))
  return [...errors, ...mode(path.child("mode"), file.mode)]
}

function items(path: FieldPath, list: readonly KeyToPath[] | undefined): FieldError[] {
  return (list ?? []).flatMap((item, index) => {
    const at = path.index(index)
    return [
      ...requiredValue(at.child("key"), item.key),
      ...requiredValue(at.child("path"), item.path),
      ...localPath(at.child("path"), item.path ?? ""),
      ...mode(at.child("mode"), item.mode),
    ]
  })
}

function mode(path: FieldPath, value: number | undefined): FieldError[] {
  return value !== undefined && (value < 0 || value > 0o777) ? [invalidValue(path, value, fileMode)] : []
}

/** Names that start with ".." are reserved by the kubelet for atomic updates of directories. */
function localPath(path: FieldPath, value: string): FieldError[] {
  const errors = descendingPath(path, value)
  if (value.startsWith("..") && !value.startsWith("../")) {
    errors.push(invalidValue(path, value, "must not start with '..'"))
  }
  return errors
}
