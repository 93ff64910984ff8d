// Validates CustomResourceDefinitions. Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation.

import { asJson, type FieldError, FieldPath, invalidValue, required } from "../../../apimachinery/field-errors.ts"
import { validateDNS1035Label, validateDNS1123Subdomain } from "../../../apimachinery/names.ts"
import type { Steps } from "../../../apimachinery/steps.ts"
import { toLower } from "../../../apimachinery/texts.ts"
import { validateConversion } from "../conversion/validate.ts"
import { immutableField, immutableFields } from "../../registry/validation/equality.ts"
import { validateOwnNames } from "../../registry/validation/names.ts"
import { oneOf, together } from "../../registry/validation/values.ts"
import {
  type CustomResourceConversion,
  type CustomResourceNames,
  type CustomResourceVersion,
  type Definition,
  isEstablished,
} from "../types.ts"
import { validateApproval } from "./approval.ts"
import { printVersions } from "./print.ts"
import { validatingVersions } from "./validate-version.ts"
import { walkSchemas } from "./walk.ts"

const path = FieldPath.root("spec")

export function* validatingDefinition(definition: Definition): Steps<FieldError[]> {
  const { group = "", names = {} } = definition.spec ?? {}
  const errors = validateOwnNames(definition, (name, isPrefix) => [
    ...validateDNS1123Subdomain(name, isPrefix),
    ...(name === `${names.plural ?? ""}.${group}` ? [] : ['must be spec.names.plural+"."+spec.group']),
  ])
  return [...errors, ...(yield* validatingSpec(definition)), ...validateRest(definition)]
}

export function* validatingDefinitionUpdate(definition: Definition, current: Definition): Steps<FieldError[]> {
  const errors = yield* validatingSpec(definition, current)
  const [spec, before] = [definition.spec ?? {}, current.spec ?? {}]
  if (isEstablished(current)) {
    errors.push(...immutableFields(path, { scope: "", ...spec }, before, ["scope"]))
    errors.push(...immutableField(path.child("names", "kind"), spec.names?.kind ?? "", before.names?.kind))
  }
  errors.push(...immutableField(path.child("group"), spec.group ?? "", before.group))
  errors.push(...immutableField(path.child("names", "plural"), spec.names?.plural ?? "", before.names?.plural))
  return [...errors, ...validateRest(definition, current)]
}

function* validatingSpec(definition: Definition, current?: Definition): Steps<FieldError[]> {
  const { group = "", scope, names = {}, versions = [], conversion } = definition.spec ?? {}
  const { lacking, own, common } = yield* validatingVersions(path, versions)
  return [
    ...validateGroup(group),
    ...oneOf(path.child("scope"), scope, ["Cluster", "Namespaced"]),
    ...lacking,
    ...(definition.spec?.preserveUnknownFields === true && versions.some(hasDefaults) ? [notWithDefaults] : []),
    ...own,
    ...validateVersionSet(definition.spec?.versions),
    ...missingNames(path.child("names"), names),
    ...validateNames(path.child("names"), names),
    ...common,
    ...(definition.spec?.preserveUnknownFields === true ? unconverted(conversion) : []),
    ...validateConversion(path.child("conversion"), conversion, current),
  ]
}

/** What is not about the spec alone comes last. */
function validateRest(definition: Definition, current?: Definition): FieldError[] {
  const errors = [...validateStoredVersions(definition), ...validateApproval(definition, current)]
  if (definition.spec?.preserveUnknownFields === true) {
    errors.push(
      invalidValue(
        path.child("preserveUnknownFields"),
        true,
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
      ),
    )
  }
  return errors
}

const notWithDefaults = invalidValue(
  path.child("preserveUnknownFields"),
  true,
  "must be false in order to use defaults in the schema",
)

/** With preserveUnknownFields there is no schema to convert to. */
function unconverted(conversion: CustomResourceConversion | undefined): FieldError[] {
  const { strategy = "" } = conversion ?? { strategy: "None" }
  const detail = "must be None if spec.preserveUnknownFields is true"
  return strategy === "None" ? [] : [invalidValue(path.child("conversion", "strategy"), asJson(strategy), detail)]
}

function hasDefaults({ schema }: CustomResourceVersion): boolean {
  let found = false
  walkSchemas(schema?.openAPIV3Schema, ({ default: value }) => {
    found ||= value !== undefined && value !== null
  })
  return found
}

function validateGroup(group: string): FieldError[] {
  const at = path.child("group")
  if (group === "") return [required(at)]
  const errors = together(at, group, validateDNS1123Subdomain(group))
  if (errors.length === 0 && !group.includes(".")) {
    errors.push(invalidValue(at, group, "should be a domain with at least one dot"))
  }
  return errors
}

function validateVersionSet(given: readonly CustomResourceVersion[] | undefined): FieldError[] {
  const versions = given ?? []
  const at = path.child("versions")
  const errors: FieldError[] = []
  const printed = given === undefined ? null : printVersions(given)
  if (new Set(versions.map((version) => version.name)).size < versions.length) {
    errors.push(invalidValue(at, printed, "must contain unique version names"))
  }
  if (versions.filter((version) => version.storage === true).length !== 1) {
    errors.push(invalidValue(at, printed, "must have exactly one version marked as storage version"))
  }
  // Upstream also stores the first version's name in the field of v1beta1.
  const [first] = versions
  if (first?.name) errors.push(...together(path.child("version"), first.name, validateDNS1035Label(first.name)))
  return errors
}

const wantedNames = ["plural", "singular", "kind", "listKind"] as const

/** Missing names are not allowed in a spec, but in a status. */
function missingNames(at: FieldPath, names: CustomResourceNames): FieldError[] {
  return wantedNames.filter((name) => !names[name]).map((name) => required(at.child(name)))
}

function validateNames(at: FieldPath, names: CustomResourceNames): FieldError[] {
  const errors = wantedNames.flatMap((field) => {
    const name = names[field]
    const rule = field === "plural" || field === "singular" ? validateDNS1035Label : mixedCase
    return name ? together(at.child(field), name, rule(name)) : []
  })
  const labels = (list: "shortNames" | "categories"): FieldError[] =>
    (names[list] ?? []).flatMap((name, index) =>
      together(at.child(list).index(index), name, validateDNS1035Label(name)),
    )
  errors.push(...labels("shortNames"))
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalidValue(at.child("listKind"), names.listKind, "kind and listKind may not be the same"))
  }
  errors.push(...labels("categories"))
  return errors
}

function mixedCase(name: string): string[] {
  const faults = validateDNS1035Label(toLower(name))
  return faults.length === 0 ? [] : [`may have mixed case, but should otherwise match: ${faults.join(",")}`]
}

/** Validates a written status. The stored versions, which migrations update, are not checked. */
export function validateAcceptedNames({ status }: Definition): FieldError[] {
  return validateNames(FieldPath.root("status", "acceptedNames"), status?.acceptedNames ?? {})
}

function validateStoredVersions(definition: Definition): FieldError[] {
  const at = FieldPath.root("status", "storedVersions")
  const { versions = [] } = definition.spec ?? {}
  const stored = definition.status?.storedVersions ?? []
  if (stored.length === 0) return [invalidValue(at, null, "must have at least one stored version")]
  // Each name is removed when it is found, so a duplicate version is reported once.
  const missing = new Map(stored.map((name, index) => [name, index]))
  const errors: FieldError[] = []
  for (const { name = "", storage } of versions) {
    if (!missing.delete(name) && storage === true) {
      errors.push(invalidValue(at, stored, `must have the storage version ${name}`))
    }
  }
  for (const [name, index] of missing) {
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
    errors.push(invalidValue(at.index(index), name, detail))
  }
  return errors
}
