// Validates admission policies and their bindings. Source: k8s.io/kubernetes/pkg/apis/admissionregistration/validation.

import { trimSpace } from "../../../../apimachinery/texts.ts"
import { repeats } from "../../../../apimachinery/repeats.ts"
import { checkingPolicyExpressions } from "../../../../apimachinery/cel/admission/check.ts"
import type {
  AuditAnnotation,
  BindingSpec,
  MatchResources,
  Mutation,
  NamedExpression,
  NamedRule,
  ParamKind,
  ParamRef,
  PolicySpec,
  Validation,
} from "../../../../apimachinery/cel/admission/policy.ts"
import {
  duplicate,
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import {
  validateDNS1035Label,
  validateDNS1123Subdomain,
  validatePathSegmentName,
  validateQualifiedName,
} from "../../../../apimachinery/names.ts"
import type { Steps } from "../../../../apimachinery/steps.ts"
import { validateLabelSelector } from "../../validation/selectors.ts"
import { messages, oneOf, optionalOneOf, requiredValue, together } from "../../validation/values.ts"
import { validateRule, validatingMatchConditions } from "../webhooks/validate.ts"

const path = FieldPath.root("spec")
const maxAuditAnnotations = 20
/** Maximum size in bytes of an audit annotation's expression. */
const maxAnnotationExpression = 5 * 1024
const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"]
const actions = ["Audit", "Deny", "Warn"]

/** Excludes errors of the expressions themselves, which are determined together: `faults`, each inserted at its place. */
export function* validatingPolicy(name: string, spec: PolicySpec, mutating: boolean): Steps<FieldError[]> {
  const faults = yield* checkingPolicyExpressions({ ...spec, matchConditions: [] }, path)
  const byField = Map.groupBy(faults, (fault) => fault.field)
  const faultsAt = (at: FieldPath): FieldError[] => byField.get(at.toString()) ?? []
  const { failurePolicy, paramKind, matchConstraints, matchConditions = [], variables = [] } = spec
  return [
    ...optionalOneOf(path.child("failurePolicy"), failurePolicy, ["Fail", "Ignore"]),
    ...(paramKind === undefined ? [] : validateParamKind(path.child("paramKind"), paramKind)),
    ...validateConstraints(path.child("matchConstraints"), matchConstraints, mutating),
    ...(yield* validatingMatchConditions(path.child("matchConditions"), matchConditions, paramKind !== undefined)),
    ...variables.flatMap((variable, index) =>
      validateVariable(path.child("variables").index(index), variable, faultsAt),
    ),
    ...(mutating ? validateMutations(spec, faultsAt) : validateValidations(name, spec, faultsAt)),
  ]
}

type FaultsAt = (at: FieldPath) => FieldError[]

function validateConstraints(at: FieldPath, constraints: MatchResources | undefined, mutating: boolean): FieldError[] {
  if (constraints === undefined) return [required(at)]
  const { resourceRules = [] } = constraints
  const rules = at.child("resourceRules")
  return [
    ...validateMatchResources(at, constraints),
    ...(resourceRules.length === 0 ? [required(rules)] : []),
    ...(mutating ? mutableOnly(rules, resourceRules) : []),
  ]
}

const mutable = ["*", "CONNECT", "CREATE", "UPDATE"]

/** Deleted objects cannot be mutated. */
function mutableOnly(at: FieldPath, rules: readonly NamedRule[]): FieldError[] {
  return rules
    .flatMap(({ operations = [] }) => operations)
    .filter((operation) => !mutable.includes(operation))
    .map((operation) => notSupported(at.child("operations"), operation, mutable))
}

function validateParamKind(at: FieldPath, { apiVersion = "", kind = "" }: ParamKind): FieldError[] {
  const errors: FieldError[] = []
  const version = at.child("apiVersion")
  const parts = apiVersion === "/" ? [] : apiVersion.split("/")
  if (apiVersion === "") errors.push(required(version))
  else if (parts.length > 2) {
    errors.push(invalidValue(version, apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
  } else {
    const [name = "", group = ""] = [...parts].reverse()
    if (group !== "") errors.push(...together(version, group, validateDNS1123Subdomain(group)))
    if (name === "") errors.push(invalidValue(version, apiVersion, "version must be specified"))
    else errors.push(...together(version, name, validateDNS1035Label(name)))
  }
  if (kind === "") return [...errors, required(at.child("kind"))]
  const faults = validateDNS1035Label(kind.toLowerCase())
  if (faults.length === 0) return errors
  const detail = `may have mixed case, but should otherwise match: ${faults.join(",")}`
  return [...errors, invalidValue(at.child("kind"), kind, detail)]
}

function validateMatchResources(at: FieldPath, wanted: MatchResources | undefined): FieldError[] {
  if (wanted === undefined) return []
  const { matchPolicy, namespaceSelector, objectSelector, resourceRules = [], excludeResourceRules = [] } = wanted
  return [
    ...optionalOneOf(at.child("matchPolicy"), matchPolicy, ["Equivalent", "Exact"]),
    ...validateLabelSelector(at.child("namespaceSelector"), namespaceSelector),
    ...validateLabelSelector(at.child("objectSelector"), objectSelector),
    ...resourceRules.flatMap((rule, index) => validateNamedRule(at.child("resourceRules").index(index), rule)),
    ...excludeResourceRules.flatMap((rule, index) =>
      validateNamedRule(at.child("excludeResourceRules").index(index), rule),
    ),
  ]
}

function validateNamedRule(at: FieldPath, rule: NamedRule): FieldError[] {
  const { resourceNames = [] } = rule
  const names = at.child("resourceNames")
  const repeated = repeats(resourceNames)
  const errors = resourceNames.flatMap((name, index) => [
    ...messages(names.index(index), name, validatePathSegmentName(name)),
    ...(repeated.has(index) ? [duplicate(names.index(index), name)] : []),
  ])
  return [...errors, ...validateRule(at, rule)]
}

function validateVariable(
  at: FieldPath,
  { name, expression = "" }: Partial<NamedExpression>,
  faultsAt: FaultsAt,
): FieldError[] {
  const errors: FieldError[] = []
  if (!name || trimSpace(name) === "") errors.push(required(at.child("name"), "name is not specified"))
  else if (!isIdentifier(name)) errors.push(invalidValue(at.child("name"), name, "must be a valid CEL identifier"))
  if (trimSpace(expression) === "") return [...errors, required(at.child("expression"), "expression is not specified")]
  return [...errors, ...faultsAt(at.child("expression"))]
}

const reserved = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
)

function isIdentifier(name: string): boolean {
  return /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !reserved.has(name)
}

function validateValidations(name: string, spec: PolicySpec, faultsAt: FaultsAt): FieldError[] {
  const { validations = [], auditAnnotations = [] } = spec
  const annotations = path.child("auditAnnotations")
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = "validations or auditAnnotations must contain at least one item"
    return [required(path.child("validations"), detail), required(annotations, detail)]
  }
  const errors = validations.flatMap((one, index) =>
    validateValidation(path.child("validations").index(index), one, faultsAt),
  )
  if (auditAnnotations.length > maxAuditAnnotations) {
    errors.push(
      invalidValue(
        annotations,
        auditAnnotations.map(shownAnnotation),
        `must not have more than ${maxAuditAnnotations} auditAnnotations`,
      ),
    )
  }
  const repeated = repeats(auditAnnotations.map(({ key }) => key))
  for (const [index, annotation] of auditAnnotations.entries()) {
    const at = annotations.index(index)
    errors.push(...validateAnnotation(at, name, annotation, faultsAt))
    if (repeated.has(index)) errors.push(duplicate(at.child("key"), annotation.key))
  }
  return errors
}

/** Go's representation. */
const shownAnnotation = ({ key, valueExpression }: AuditAnnotation): object => ({
  Key: key,
  ValueExpression: valueExpression,
})

function validateValidation(at: FieldPath, validation: Validation, faultsAt: FaultsAt): FieldError[] {
  const { expression = "", message = "", messageExpression = "", reason } = validation
  const errors: FieldError[] = []
  if (trimSpace(expression) === "") errors.push(required(at.child("expression"), "expression is not specified"))
  else errors.push(...faultsAt(at.child("expression")))
  if (messageExpression !== "" && trimSpace(messageExpression) === "") {
    errors.push(invalidValue(at.child("messageExpression"), messageExpression, "must be non-empty if specified"))
  } else errors.push(...faultsAt(at.child("messageExpression")))
  if (message !== "" && trimSpace(message) === "") {
    errors.push(invalidValue(at.child("message"), message, "must be non-empty if specified"))
  } else if (/[\n\r]/.test(trimSpace(message))) {
    errors.push(invalidValue(at.child("message"), message, "must not contain line breaks"))
  }
  if (reason !== undefined && !reasons.includes(reason)) errors.push(notSupported(at.child("reason"), reason, reasons))
  return errors
}

function validateAnnotation(
  at: FieldPath,
  name: string,
  { key = "", valueExpression = "" }: Partial<AuditAnnotation>,
  faultsAt: FaultsAt,
): FieldError[] {
  const errors =
    name === ""
      ? [invalidValue(at.child("key"), key, "requires metadata.name be non-empty")]
      : messages(at.child("key"), `${name}/${key}`, validateQualifiedName(`${name}/${key}`))
  const trimmed = trimSpace(valueExpression)
  const expression = at.child("valueExpression")
  if (trimmed === "") return [...errors, required(expression, "valueExpression is not specified")]
  if (Buffer.byteLength(trimmed) > maxAnnotationExpression) {
    return [...errors, required(expression, `must not exceed ${maxAnnotationExpression} bytes in length`)]
  }
  return [...errors, ...faultsAt(expression)]
}

function validateMutations({ mutations = [], reinvocationPolicy }: PolicySpec, faultsAt: FaultsAt): FieldError[] {
  const at = path.child("mutations")
  return [
    ...(mutations.length === 0 ? [required(at, "mutations must contain at least one item")] : []),
    ...mutations.flatMap((mutation, index) => validateMutation(at.index(index), mutation, faultsAt)),
    ...oneOf(path.child("reinvocationPolicy"), reinvocationPolicy, ["IfNeeded", "Never"]),
  ]
}

function validateMutation(at: FieldPath, mutation: Partial<Mutation>, faultsAt: FaultsAt): FieldError[] {
  const { patchType, jsonPatch, applyConfiguration } = mutation
  if (!patchType) return [required(at.child("patchType"))]
  const kinds = { JSONPatch: jsonPatch, ApplyConfiguration: applyConfiguration }
  const fields = { JSONPatch: "jsonPatch", ApplyConfiguration: "applyConfiguration" }
  if (patchType !== "JSONPatch" && patchType !== "ApplyConfiguration") {
    return [notSupported(at.child("patchType"), patchType, ["ApplyConfiguration", "JSONPatch"])]
  }
  const other = patchType === "JSONPatch" ? "ApplyConfiguration" : "JSONPatch"
  const field = at.child(fields[patchType])
  const errors: FieldError[] = []
  const given = kinds[patchType]
  if (given === undefined) errors.push(required(field, `must be specified when patchType is ${patchType}`))
  else if (trimSpace(given.expression ?? "") === "") errors.push(required(field.child("expression")))
  else errors.push(...faultsAt(field.child("expression")))
  if (kinds[other] !== undefined) {
    const detail = `must not be specified when patchType is ${patchType}`
    errors.push(invalidValue(at.child(fields[other]), `{${fields[other]}}`, detail))
  }
  return errors
}

export function validateBinding(spec: BindingSpec, mutating: boolean): FieldError[] {
  const { policyName = "", paramRef, matchResources, validationActions = [] } = spec
  const rules = path.child("matchResources", "resourceRules")
  return [
    ...requiredValue(path.child("policyName"), policyName),
    ...(policyName === "" ? [] : messages(path.child("policyName"), policyName, validateDNS1123Subdomain(policyName))),
    ...(paramRef === undefined ? [] : validateParamRef(path.child("paramRef"), paramRef)),
    ...validateMatchResources(path.child("matchResources"), matchResources),
    ...(mutating ? mutableOnly(rules, matchResources?.resourceRules ?? []) : validateActions(validationActions)),
  ]
}

function validateParamRef(at: FieldPath, { name = "", selector, parameterNotFoundAction }: ParamRef): FieldError[] {
  const errors = name === "" ? [] : messages(at.child("name"), name, validatePathSegmentName(name))
  const exclusive = "name and selector are mutually exclusive"
  if (name !== "" && selector !== undefined) errors.push(forbiddenField(at.child("name"), exclusive))
  errors.push(...validateLabelSelector(at.child("selector"), selector))
  if (name !== "" && selector !== undefined) errors.push(forbiddenField(at.child("selector"), exclusive))
  if (name === "" && selector === undefined) errors.push(required(at, "one of name or selector must be specified"))
  return [...errors, ...oneOf(at.child("parameterNotFoundAction"), parameterNotFoundAction, ["Deny", "Allow"])]
}

function validateActions(given: readonly string[]): FieldError[] {
  const at = path.child("validationActions")
  const repeated = repeats(given)
  const errors = given.flatMap((action, index) => [
    ...(actions.includes(action) ? [] : [notSupported(at.index(index), action, actions)]),
    ...(repeated.has(index) ? [duplicate(at.index(index), action)] : []),
  ])
  if (given.includes("Deny") && given.includes("Warn")) {
    const detail =
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)"
    errors.push(invalidValue(at, given, detail))
  }
  return given.length === 0 ? [...errors, required(at, "at least one validation action is required")] : errors
}
