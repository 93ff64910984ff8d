// What a rule allows and which rules cover which: pure. Source: k8s.io/component-helpers/auth/rbac/validation and
// k8s.io/kubernetes/pkg/apis/rbac/v1/evaluation_helpers.go.

import { quote } from "./messages.ts"
import type { Attributes, PolicyRule } from "./types.ts"
import { trimRight } from "../../apimachinery/texts.ts"

const has = (list: readonly string[] | undefined, ...wanted: string[]): boolean =>
  list !== undefined && wanted.some((item) => list.includes(item))

const isEmpty = (list: readonly string[] | undefined): boolean => list === undefined || list.length === 0

export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!has(rule.verbs, "*", attributes.verb)) return false
  if (!attributes.isResourceRequest)
    return rule.nonResourceURLs?.some((owner) => urlCovers(owner, attributes.path)) ?? false
  const { group, resource, subresource, name } = attributes
  if (!has(rule.apiGroups, "*", group)) return false
  const matches =
    subresource === ""
      ? has(rule.resources, "*", resource)
      : has(rule.resources, "*", `${resource}/${subresource}`, `*/${subresource}`)
  return matches && (isEmpty(rule.resourceNames) || has(rule.resourceNames, name))
}

/** "*" at the end of a rule's URL stands for any rest. */
function urlCovers(owner: string, path: string): boolean {
  return owner === "*" || owner === path || (owner.endsWith("*") && path.startsWith(trimRight(owner, "*")))
}

/** The atomic parts of `wanted` that no single rule of `held` covers; empty when all are. */
export function covers(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((part) => !held.some((rule) => ruleCovers(rule, part)))
}

/** Rules with one verb, one group, one resource and at most one name, or one verb and one URL. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const parts: PolicyRule[] = []
  const verbs = rule.verbs ?? []
  for (const group of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of verbs) {
        const part = { apiGroups: [group], resources: [resource], verbs: [verb] }
        if (isEmpty(rule.resourceNames)) parts.push(part)
        else for (const name of rule.resourceNames ?? []) parts.push({ ...part, resourceNames: [name] })
      }
    }
  }
  for (const url of rule.nonResourceURLs ?? [])
    for (const verb of verbs) parts.push({ nonResourceURLs: [url], verbs: [verb] })
  return parts
}

function ruleCovers(owner: PolicyRule, part: PolicyRule): boolean {
  return (
    includesAll(owner.verbs, part.verbs) &&
    includesAll(owner.apiGroups, part.apiGroups) &&
    (part.resources ?? []).every((resource) => resourceCovers(owner.resources, resource)) &&
    (isEmpty(owner.resourceNames) ||
      (!isEmpty(part.resourceNames) && includesAll(owner.resourceNames, part.resourceNames, false))) &&
    (part.nonResourceURLs ?? []).every((url) => owner.nonResourceURLs?.some((covering) => urlCovers(covering, url)))
  )
}

function includesAll(
  owner: readonly string[] | undefined,
  wanted: readonly string[] | undefined,
  wildcard = true,
): boolean {
  return (wildcard && has(owner, "*")) || (wanted ?? []).every((item) => has(owner, item))
}

function resourceCovers(owner: readonly string[] | undefined, resource: string): boolean {
  const slash = resource.indexOf("/")
  return slash < 0 ? has(owner, "*", resource) : has(owner, "*", resource, `*${resource.slice(slash)}`)
}

/** Joins the verbs of rules that differ in nothing else, so that messages stay short. */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const others: PolicyRule[] = []
  const simple = new Map<string, PolicyRule & { verbs: string[] }>()
  for (const rule of rules) {
    if (!isEmpty(rule.nonResourceURLs)) {
      others.push(rule)
      continue
    }
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames ?? null])
    const existing = simple.get(key)
    if (existing === undefined) simple.set(key, { ...rule, verbs: [...(rule.verbs ?? [])] })
    else existing.verbs.push(...(rule.verbs ?? []))
  }
  return [...others, ...simple.values()]
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}` */
export function printRule(rule: PolicyRule): string {
  const parts: string[] = []
  const part = (label: string, list: readonly string[] | undefined): void => {
    if (list !== undefined && list.length > 0) parts.push(`${label}:[${list.map(quote).join(" ")}]`)
  }
  part("APIGroups", rule.apiGroups)
  part("Resources", rule.resources)
  part("NonResourceURLs", rule.nonResourceURLs)
  part("ResourceNames", rule.resourceNames)
  part("Verbs", rule.verbs)
  return `{${parts.join(", ")}}`
}
