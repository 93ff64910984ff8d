// FlowSchemas: requests are classified by them (../flow-view.ts), for information only: the limits of requests are per tenant.
// Source: k8s.io/kubernetes/pkg/apis/flowcontrol.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import type * as models from "@kubernetes/client-node"
import {
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label, validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import type { Wire } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { messages, requiredValue } from "../../validation/values.ts"
import { comparePrecedence } from "../classification.ts"
import { validateMandatory } from "../mandatory.ts"
import { type Conditioned, validateConditions } from "../conditions.ts"

type Spec = Partial<Wire<models.V1FlowSchemaSpec>>
type Rule = Partial<NonNullable<Spec["rules"]>[number]>
type Subject = Partial<NonNullable<Rule["subjects"]>[number]>
type FlowSchema = Conditioned & { spec?: Spec }

const path = FieldPath.root("spec")
const defaultPrecedence = 1000
const maxPrecedence = 10_000
const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"]
const anything = "*"

const strategy: Strategy<FlowSchema> = {
  default(schema) {
    const spec = (schema.spec ??= {})
    spec.priorityLevelConfiguration ??= { name: "" }
    spec.matchingPrecedence = spec.matchingPrecedence || defaultPrecedence
  },
  validate: (_ctx, schema) => validate(schema),
  validateUpdate: (ctx, schema) => (ctx.info.subresource === "status" ? validateConditions(schema) : validate(schema)),
}

const ranked = ({ metadata, spec = {} }: FlowSchema) => ({ name: metadata.name ?? "", spec })

export const flowSchemas: KindExtension = {
  strategy,
  rowOrder: (a, b) => comparePrecedence(ranked(a), ranked(b)),
}

function validate(schema: FlowSchema): FieldError[] {
  const spec = schema.spec ?? {}
  const precedence = spec.matchingPrecedence ?? 0
  const at = path.child("matchingPrecedence")
  const errors: FieldError[] = []
  if (precedence <= 0) errors.push(invalidValue(at, precedence, "must be a positive value"))
  if (precedence > maxPrecedence) {
    errors.push(invalidValue(at, precedence, `must not be greater than ${maxPrecedence}`))
  }
  if (precedence === 1 && schema.metadata.name !== "exempt") {
    errors.push(invalidValue(at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1"))
  }
  const method = spec.distinguisherMethod
  if (method !== undefined && !["ByNamespace", "ByUser"].includes(method.type)) {
    // Upstream prints its own struct here.
    const shown = { Type: method.type ?? "" }
    errors.push(notSupported(path.child("distinguisherMethod", "type"), shown, ["ByNamespace", "ByUser"]))
  }
  const level = spec.priorityLevelConfiguration?.name ?? ""
  const levelPath = path.child("priorityLevelConfiguration", "name")
  if (level === "") errors.push(required(levelPath, "must reference a priority level"))
  else errors.push(...messages(levelPath, level, validateDNS1123Subdomain(level)))
  for (const [index, rule] of (spec.rules ?? []).entries()) {
    errors.push(...validateRule(path.child("rules").index(index), rule))
  }
  if (schema.metadata.name === "exempt" || schema.metadata.name === "catch-all") {
    errors.push(...validateMandatory(schema, spec))
  }
  return [...errors, ...validateConditions(schema)]
}

function validateRule(at: FieldPath, rule: Rule): FieldError[] {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rule
  const errors = subjects.flatMap((subject, index) => validateSubject(at.child("subjects").index(index), subject))
  if (subjects.length === 0) errors.push(required(at.child("subjects"), "subjects must contain at least one value"))
  if (resourceRules.length + nonResourceRules.length === 0) {
    errors.push(required(at, "at least one of resourceRules and nonResourceRules has to be non-empty"))
  }
  for (const [index, one] of resourceRules.entries()) {
    errors.push(...validateResources(at.child("resourceRules").index(index), one))
  }
  for (const [index, one] of nonResourceRules.entries()) {
    errors.push(...validateURLs(at.child("nonResourceRules").index(index), one))
  }
  return errors
}

type Member = "serviceAccount" | "user" | "group"
const members: Readonly<Record<string, Member>> = dictionary({
  ServiceAccount: "serviceAccount",
  User: "user",
  Group: "group",
})

function validateSubject(at: FieldPath, subject: Subject): FieldError[] {
  const { kind = "" } = subject
  const own = members[kind]
  if (own === undefined) return [notSupported(at.child("kind"), kind, ["Group", "ServiceAccount", "User"])]
  const errors = validateMember(at.child(own), own, kind, subject)
  for (const [other, field] of Object.entries(members).toSorted(byUpstream)) {
    if (field !== own && subject[field] !== undefined) {
      errors.push(forbiddenField(at.child(field), `${field} is forbidden when subject kind is not '${other}'`))
    }
  }
  return errors
}

/** Upstream's order: service accounts, users, groups. */
function byUpstream([a]: [string, string], [b]: [string, string]): number {
  const order = Object.keys(members)
  return order.indexOf(a) - order.indexOf(b)
}

function validateMember(at: FieldPath, field: Member, kind: string, subject: Subject) {
  const member = subject[field]
  if (member === undefined) return [required(at, `${field} is required when subject kind is '${kind}'`)]
  const errors = requiredValue(at.child("name"), member.name)
  if (field !== "serviceAccount") return errors
  const { name = "", namespace = "" } = subject.serviceAccount ?? {}
  if (name !== "" && name !== anything) errors.push(...messages(at.child("name"), name, validateDNS1123Subdomain(name)))
  if (namespace === "") errors.push(required(at.child("namespace"), "must specify namespace for service account"))
  else errors.push(...messages(at.child("namespace"), namespace, validateDNS1123Label(namespace)))
  return errors
}

function validateVerbs(at: FieldPath, given: readonly string[] = []): FieldError[] {
  if (given.length === 0) return [required(at, "verbs must contain at least one value")]
  if (given.includes(anything)) return alone(at, given, "verbs")
  return given.every((verb) => verbs.includes(verb)) ? [] : [notSupported(at, given, verbs)]
}

function alone(at: FieldPath, given: readonly string[], what: string): FieldError[] {
  return given.length > 1 && given.includes(anything)
    ? [invalidValue(at, given, `if '*' is present, must not specify other ${what}`)]
    : []
}

function validateResources(at: FieldPath, rule: Partial<NonNullable<Rule["resourceRules"]>[number]>): FieldError[] {
  const { apiGroups = [], resources = [], namespaces = [] } = rule
  const errors = validateVerbs(at.child("verbs"), rule.verbs)
  if (apiGroups.length === 0) {
    errors.push(required(at.child("apiGroups"), "resource rules must supply at least one api group"))
  } else errors.push(...alone(at.child("apiGroups"), apiGroups, "api groups"))
  if (resources.length === 0) {
    errors.push(required(at.child("resources"), "resource rules must supply at least one resource"))
  } else errors.push(...alone(at.child("resources"), resources, "resources"))
  const place = at.child("namespaces")
  if (namespaces.length === 0 && rule.clusterScope !== true) {
    const why = "resource rules that are not cluster scoped must supply at least one namespace"
    return [...errors, required(place, why)]
  }
  if (namespaces.includes(anything)) return [...errors, ...alone(place, namespaces, "namespaces")]
  for (const [index, name] of namespaces.entries()) {
    const faults = validateDNS1123Label(name).map(
      (fault) => `each member of this list must be '*' or a DNS-1123 label; ${fault}`,
    )
    errors.push(...messages(place.index(index), name, faults))
  }
  return errors
}

function validateURLs(at: FieldPath, rule: Partial<NonNullable<Rule["nonResourceRules"]>[number]>): FieldError[] {
  const urls = rule.nonResourceURLs ?? []
  const place = at.child("nonResourceURLs")
  const errors = validateVerbs(at.child("verbs"), rule.verbs)
  if (urls.length === 0) return [...errors, required(place, "nonResourceURLs must contain at least one value")]
  if (urls.includes(anything)) return [...errors, ...alone(place, urls, "non-resource URLs")]
  return [...errors, ...urls.flatMap((url, index) => validateURL(place.index(index), url))]
}

function validateURL(at: FieldPath, url: string): FieldError[] {
  if (url === "") return [invalidValue(at, url, "must not be empty")]
  if (url === "/") return []
  if (!url.startsWith("/")) return [invalidValue(at, url, "must start with slash")]
  if (url.includes(" ")) return [invalidValue(at, url, "must not contain white-space")]
  if (url.includes("//")) return [invalidValue(at, url, "must not contain double slash")]
  return /\*./.test(url) || (url.includes("*") && !url.endsWith("/*"))
    ? [invalidValue(at, url, "wildcard can only do suffix matching")]
    : []
}
