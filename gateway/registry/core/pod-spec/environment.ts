// Environment variables and field references of the downward API. Source: k8s.io/kubernetes/pkg/apis/core/validation.

import {
  type FieldError,
  type FieldPath,
  invalidValue,
  notSupportedText,
  required,
} from "../../../../apimachinery/field-errors.ts"
import {
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validateQualifiedName,
} from "../../../../apimachinery/names.ts"
import { configKeyRule, environmentNameRule, messages, named } from "../../validation/values.ts"
import { noParentSegments } from "../volumes/sources.ts"
import type { Container, ObjectFieldSelector, ResourceFieldSelector } from "./types.ts"

const environmentFields = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
]
export const volumeFields = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
]
/** All fields that the downward API supports; whether a field is allowed in this place is checked afterwards. */
const knownFields = new Set([
  ...environmentFields,
  ...volumeFields,
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
])
const containerResources = ["limits", "requests"].flatMap((kind) =>
  ["cpu", "ephemeral-storage", "memory"].map((name) => `${kind}.${name}`),
)
type EnvVar = NonNullable<Container["env"]>[number]
type EnvFrom = NonNullable<Container["envFrom"]>[number]

export function validateEnv(path: FieldPath, variables: readonly EnvVar[] | undefined): FieldError[] {
  return (variables ?? []).flatMap((variable, index) => {
    const at = path.index(index)
    return [
      ...named(at.child("name"), variable.name, environmentNameRule),
      ...validateValueFrom(at.child("valueFrom"), variable),
    ]
  })
}

function validateValueFrom(path: FieldPath, variable: EnvVar): FieldError[] {
  const source = variable.valueFrom
  if (source === undefined) return []
  const errors: FieldError[] = []
  if (source.fieldRef !== undefined) {
    errors.push(...validateFieldRef(path.child("fieldRef"), source.fieldRef, environmentFields))
  }
  if (source.resourceFieldRef !== undefined) {
    errors.push(...validateResourceFieldRef(path.child("resourceFieldRef"), source.resourceFieldRef, false))
  }
  if (source.configMapKeyRef !== undefined) {
    errors.push(...validateKeyRef(path.child("configMapKeyRef"), source.configMapKeyRef))
  }
  if (source.secretKeyRef !== undefined) errors.push(...validateKeyRef(path.child("secretKeyRef"), source.secretKeyRef))
  if (source.fileKeyRef !== undefined) errors.push(...validateFileKey(path.child("fileKeyRef"), source.fileKeyRef))
  const sources = Object.values(source).filter((value) => value !== undefined).length
  if (sources === 0) {
    errors.push(
      invalidValue(
        path,
        "",
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
      ),
    )
  } else if (variable.value !== undefined && variable.value !== "") {
    errors.push(invalidValue(path, "", "may not be specified when `value` is not empty"))
  } else if (sources > 1) {
    errors.push(invalidValue(path, "", "may not have more than one field specified at a time"))
  }
  return errors
}

function validateFileKey(
  path: FieldPath,
  { key, volumeName, path: file = "" }: { key?: string; volumeName?: string; path?: string },
): FieldError[] {
  return [
    ...named(path.child("key"), key, environmentNameRule),
    ...named(path.child("volumeName"), volumeName, validateDNS1123Label),
    ...(file === "" ? [required(path.child("path"))] : noParentSegments(path.child("path"), file)),
  ]
}

function validateKeyRef(path: FieldPath, reference: { name?: string; key: string }): FieldError[] {
  return [
    ...messages(path.child("name"), reference.name ?? "", validateDNS1123Subdomain(reference.name ?? "")),
    ...named(path.child("key"), reference.key, configKeyRule),
  ]
}

/** As upstream, which takes the name for a prefix that more is added to. */
const sourceNameRule = (name: string): string[] => validateDNS1123Subdomain(name, true)

export function validateEnvFrom(path: FieldPath, sources: readonly EnvFrom[] | undefined): FieldError[] {
  return (sources ?? []).flatMap((source, index) => {
    const at = path.index(index)
    const errors: FieldError[] = []
    if (source.prefix) errors.push(...messages(at.child("prefix"), source.prefix, environmentNameRule(source.prefix)))
    if (source.configMapRef !== undefined) {
      errors.push(...named(at.child("configMapRef", "name"), source.configMapRef.name, sourceNameRule))
    }
    if (source.secretRef !== undefined) {
      errors.push(...named(at.child("secretRef", "name"), source.secretRef.name, sourceNameRule))
    }
    const count = Number(source.configMapRef !== undefined) + Number(source.secretRef !== undefined)
    if (count === 0) errors.push(invalidValue(path, "", "must specify one of: `configMapRef` or `secretRef`"))
    if (count > 1) errors.push(invalidValue(path, "", "may not have more than one field specified at a time"))
    return errors
  })
}

export function validateFieldRef(
  path: FieldPath,
  reference: ObjectFieldSelector,
  fields: readonly string[],
): FieldError[] {
  if (!reference.apiVersion) return [required(path.child("apiVersion"))]
  if (!reference.fieldPath) return [required(path.child("fieldPath"))]
  if (reference.apiVersion !== "v1") {
    const fault = `error converting fieldPath: unsupported pod version: ${reference.apiVersion}`
    return [invalidValue(path.child("fieldPath"), reference.fieldPath, fault)]
  }
  const { name, key } = subscripted(reference.fieldPath)
  if (key !== undefined) {
    if (name === "metadata.annotations")
      return messages(path, key.toLowerCase(), validateQualifiedName(key.toLowerCase()))
    if (name === "metadata.labels") return messages(path, key, validateQualifiedName(key))
    return [unconverted(path, reference.fieldPath, "field label does not support subscript")]
  }
  // Its former name.
  const field = name === "spec.host" ? "spec.nodeName" : name
  if (!knownFields.has(field)) return [unconverted(path, name, "field label not supported")]
  return fields.includes(field) ? [] : [notSupportedText(path.child("fieldPath"), field, fields)]
}

/** Parses `metadata.labels['key']`. Source: k8s.io/kubernetes/pkg/fieldpath/fieldpath.go (SplitMaybeSubscriptedPath). */
function subscripted(fieldPath: string): { name: string; key?: string } {
  const start = fieldPath.indexOf("['")
  if (start < 1 || !fieldPath.endsWith("']") || start + 2 > fieldPath.length - 2) return { name: fieldPath }
  return { name: fieldPath.slice(0, start), key: fieldPath.slice(start + 2, -2) }
}

function unconverted(path: FieldPath, field: string, why: string): FieldError {
  return invalidValue(path.child("fieldPath"), field, `error converting fieldPath: ${why}: ${field}`)
}

const isPages = (resource: string): boolean => /^(limits|requests)\.hugepages-/.test(resource)

/** In a volume containerName is required; in a container it defaults to the container itself. */
export function validateResourceFieldRef(
  path: FieldPath,
  reference: ResourceFieldSelector,
  volume: boolean,
): FieldError[] {
  const errors: FieldError[] = []
  const { resource } = reference
  if (volume && !reference.containerName) errors.push(required(path.child("containerName")))
  else if (!resource) errors.push(required(path.child("resource")))
  else if (!containerResources.includes(resource) && !isPages(resource)) {
    errors.push(notSupportedText(path.child("resource"), resource, containerResources))
  }
  return [...errors, ...validateDivisor(path.child("divisor"), resource ?? "", reference.divisor)]
}

const byteDivisors = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"]

function validateDivisor(path: FieldPath, resource: string, divisor: string | undefined): FieldError[] {
  if (divisor === undefined || divisor === "0") return []
  if (!containerResources.includes(resource) && !isPages(resource)) return []
  const kind = resource.slice(resource.indexOf(".") + 1)
  if (kind === "cpu") {
    return divisor === "1m" || divisor === "1"
      ? []
      : [invalidValue(path, resource, "only divisor's values 1m and 1 are supported with the cpu resource")]
  }
  const word = kind === "memory" ? "memory" : kind === "ephemeral-storage" ? "local ephemeral storage" : "hugepages"
  return byteDivisors.includes(divisor)
    ? []
    : [
        invalidValue(
          path,
          resource,
          `only divisor's values ${byteDivisors.join(", ")} are supported with the ${word} resource`,
        ),
      ]
}
