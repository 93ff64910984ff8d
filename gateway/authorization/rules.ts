// Evaluates rules, and whether rules cover others. Pure. Source: k8s.io/component-helpers/auth/rbac/validation and
// k8s.io/kubernetes/pkg/apis/rbac/v1/evaluation_helpers.go.

import { goQuoteList } from "../../apimachinery/go/quote.ts"
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

/** "*" at the end of a rule's URL matches any suffix. */
function urlCovers(owner: string, path: string): boolean {
  return owner === "*" || owner === path || (owner.endsWith("*") && path.startsWith(trimRight(owner, "*")))
}

/**
 * Maximum number of comparisons of a part of a rule with a rule. The number of parts of a rule is the product of its numbers of
 * verbs, groups, resources and names; rules that have not been compared by then count as not covered.
 */
const maxComparisons = 2_000_000
/** Maximum number of reported parts; the search ends when it is reached. */
const maxMissing = 10_000

/** The atomic parts of `wanted` that no single rule of `held` covers, up to the maximum; empty if all are covered. */
export function covers(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const owners = held.map(ownerOf)
  const missing: PolicyRule[] = []
  let left = maxComparisons
  for (const rule of wanted) {
    left -= owners.length
    if (left < 0) return [...missing, rule]
    if (owners.some((owner) => ruleCovers(owner, rule))) continue
    for (const part of partsOf(rule)) {
      left -= owners.length
      if (left < 0) return [...missing, rule]
      if (!owners.some((owner) => ruleCovers(owner, part))) missing.push(part)
      if (missing.length >= maxMissing) return missing
    }
  }
  return missing
}

/** Splits a rule into rules with one verb, one group, one resource and at most one name, or one verb and one URL. */
function* partsOf(rule: PolicyRule): Generator<PolicyRule> {
  const verbs = rule.verbs ?? []
  for (const group of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of verbs) {
        const part = { apiGroups: [group], resources: [resource], verbs: [verb] }
        if (isEmpty(rule.resourceNames)) yield part
        else for (const name of rule.resourceNames ?? []) yield { ...part, resourceNames: [name] }
      }
    }
  }
  for (const url of rule.nonResourceURLs ?? [])
    for (const verb of verbs) yield { nonResourceURLs: [url], verbs: [verb] }
}

/** A held rule, prepared for many comparisons. */
interface Owner {
  verbs: ReadonlySet<string>
  apiGroups: ReadonlySet<string>
  resources: ReadonlySet<string>
  resourceNames: ReadonlySet<string>
  nonResourceURLs: readonly string[]
}

function ownerOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs = [] }: PolicyRule): Owner {
  const sets = { verbs: new Set(verbs), apiGroups: new Set(apiGroups), resources: new Set(resources) }
  return { ...sets, resourceNames: new Set(resourceNames), nonResourceURLs }
}

function ruleCovers(owner: Owner, rule: PolicyRule): boolean {
  return (
    includesAll(owner.verbs, rule.verbs) &&
    includesAll(owner.apiGroups, rule.apiGroups) &&
    (rule.resources ?? []).every((resource) => resourceCovers(owner.resources, resource)) &&
    (owner.resourceNames.size === 0 ||
      (!isEmpty(rule.resourceNames) && (rule.resourceNames ?? []).every((name) => owner.resourceNames.has(name)))) &&
    (rule.nonResourceURLs ?? []).every((url) => owner.nonResourceURLs.some((covering) => urlCovers(covering, url)))
  )
}

function includesAll(owner: ReadonlySet<string>, wanted: readonly string[] = []): boolean {
  return owner.has("*") || wanted.every((item) => owner.has(item))
}

function resourceCovers(owner: ReadonlySet<string>, resource: string): boolean {
  if (owner.has("*") || owner.has(resource)) return true
  const slash = resource.indexOf("/")
  return slash >= 0 && owner.has(`*${resource.slice(slash)}`)
}

/** Joins the verbs of rules that are otherwise equal, so that messages stay short. */
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
    if (list !== undefined && list.length > 0) parts.push(`${label}:${goQuoteList(list)}`)
  }
  part("APIGroups", rule.apiGroups)
  part("Resources", rule.resources)
  part("NonResourceURLs", rule.nonResourceURLs)
  part("ResourceNames", rule.resourceNames)
  part("Verbs", rule.verbs)
  return `{${parts.join(", ")}}`
}
