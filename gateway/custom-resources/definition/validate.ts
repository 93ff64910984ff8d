// CustomResourceDefinitions. Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation.

import {
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../apimachinery/field-errors.ts"
import { validateDNS1035Label, validateDNS1123Subdomain } from "../../../apimachinery/names.ts"
import { compileStructural } from "../../../apimachinery/schema/structural.ts"
import { immutableField } from "../../registry/validation/equality.ts"
import { messages, named, oneOf } from "../../registry/validation/values.ts"
import { type CustomResourceNames, type Definition, isEstablished } from "../types.ts"
import { validateVersion } from "./validate-version.ts"

const path = FieldPath.root("spec")
const approval = "api-approved.kubernetes.io"

export function validateDefinition(definition: Definition): FieldError[] {
  const { group = "", scope, names = {}, versions = [], conversion } = definition.spec ?? {}
  const errors: FieldError[] = []
  const { name = "" } = definition.metadata
  if (name !== `${names.plural ?? ""}.${group}`) {
    errors.push(invalidValue(FieldPath.root("metadata", "name"), name, 'must be spec.names.plural+"."+spec.group'))
  }
  errors.push(...validateGroup(group))
  errors.push(...oneOf(path.child("scope"), scope, ["Cluster", "Namespaced"]))
  errors.push(...validateVersions(definition), ...validateNames(path.child("names"), names))
  errors.push(...validateConversion(conversion))
  if (isProtected(group) && !definition.metadata.annotations?.[approval]) {
    errors.push(
      required(
        FieldPath.root("metadata", "annotations").key(approval),
        `protected groups must have approval annotation "${approval}", see https://github.com/kubernetes/enhancements/pull/1111`,
      ),
    )
  }
  if (definition.spec?.preserveUnknownFields === true) {
    errors.push(
      invalidValue(
        path.child("preserveUnknownFields"),
        true,
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
      ),
    )
  }
  return [...errors, ...validateStoredVersions(definition, versions.find((version) => version.storage === true)?.name)]
}

export function validateDefinitionUpdate(definition: Definition, current: Definition): FieldError[] {
  const errors = validateDefinition(definition)
  const [spec, before] = [definition.spec ?? {}, current.spec ?? {}]
  if (isEstablished(current)) {
    errors.push(...immutableField(path.child("scope"), spec.scope, before.scope))
    errors.push(...immutableField(path.child("names", "kind"), spec.names?.kind, before.names?.kind))
  }
  errors.push(...immutableField(path.child("group"), spec.group, before.group))
  errors.push(...immutableField(path.child("names", "plural"), spec.names?.plural, before.names?.plural))
  return errors
}

function validateGroup(group: string): FieldError[] {
  const at = path.child("group")
  if (group === "") return [required(at)]
  const errors = messages(at, group, validateDNS1123Subdomain(group))
  if (errors.length === 0 && !group.includes(".")) {
    errors.push(invalidValue(at, group, "should be a domain with at least one dot"))
  }
  return errors
}

function isProtected(group: string): boolean {
  return ["k8s.io", "kubernetes.io"].some((domain) => group === domain || group.endsWith(`.${domain}`))
}

function validateVersions(definition: Definition): FieldError[] {
  const versions = definition.spec?.versions ?? []
  const at = path.child("versions")
  if (versions.length === 0) return [required(at, "must have at least one version")]
  const errors: FieldError[] = []
  for (const [index, version] of versions.entries()) {
    const place = at.index(index)
    errors.push(...validateVersion(place, version))
    const schema = version.schema?.openAPIV3Schema
    const schemaPath = place.child("schema", "openAPIV3Schema")
    if (schema === undefined || schema === null) errors.push(required(schemaPath, "schemas are required"))
    else errors.push(...compileStructural(schema, schemaPath).errors)
  }
  if (new Set(versions.map((version) => version.name)).size < versions.length) {
    errors.push(invalidValue(at, versions, "must contain unique version names"))
  }
  if (versions.filter((version) => version.storage === true).length !== 1) {
    errors.push(invalidValue(at, versions, "must have exactly one version marked as storage version"))
  }
  return errors
}

function validateNames(at: FieldPath, names: CustomResourceNames): FieldError[] {
  const errors = [
    ...named(at.child("plural"), names.plural, validateDNS1035Label),
    ...named(at.child("singular"), names.singular, validateDNS1035Label),
    ...named(at.child("kind"), names.kind, mixedCase),
    ...named(at.child("listKind"), names.listKind, mixedCase),
  ]
  for (const list of ["shortNames", "categories"] as const) {
    for (const [index, name] of (names[list] ?? []).entries()) {
      errors.push(...messages(at.child(list).index(index), name, validateDNS1035Label(name)))
    }
  }
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalidValue(at.child("listKind"), names.listKind, "kind and listKind may not be the same"))
  }
  return errors
}

function mixedCase(name: string): string[] {
  return validateDNS1035Label(name.toLowerCase()).map(
    (fault) => `may have mixed case, but should otherwise match: ${fault}`,
  )
}

function validateConversion(conversion: { strategy?: string; webhook?: unknown } | undefined): FieldError[] {
  const at = path.child("conversion")
  if (conversion === undefined) return []
  if (conversion.strategy === "Webhook") {
    return [
      forbiddenField(
        at.child("strategy"),
        "conversion webhooks are not called by this control plane; only None is supported",
      ),
    ]
  }
  if (conversion.strategy !== "None") {
    return [notSupported(at.child("strategy"), conversion.strategy ?? "", ["None", "Webhook"])]
  }
  return conversion.webhook === undefined
    ? []
    : [forbiddenField(at.child("webhook"), "should not be set when strategy is not set to Webhook")]
}

function validateStoredVersions(definition: Definition, storage: string | undefined): FieldError[] {
  const at = FieldPath.root("status", "storedVersions")
  const stored = definition.status?.storedVersions ?? []
  if (stored.length === 0) return [invalidValue(at, null, "must have at least one stored version")]
  const known = new Set((definition.spec?.versions ?? []).map((version) => version.name))
  const errors = stored.flatMap((name, index) =>
    known.has(name) ? [] : [invalidValue(at.index(index), name, "must appear in spec.versions")],
  )
  if (storage !== undefined && !stored.includes(storage)) {
    errors.push(invalidValue(at, stored, `must have the storage version ${storage}`))
  }
  return errors
}
