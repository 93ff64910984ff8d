// Determines the flow schema of a request for API priority and fairness: the first match, by precedence, then by name; schemas
// without an existing priority level are skipped. Source: k8s.io/apiserver/pkg/util/flowcontrol/{rule,apf_controller}.go.

import type * as models from "@kubernetes/client-node"
import type { Wire } from "../../../apimachinery/object.ts"
import type { FlowSeries } from "../../metrics/flow-counts.ts"
import type { RequestInfo } from "../../request/request-info.ts"
import type { User } from "../../request/user.ts"
import { type Caller, callerOf, Subjects } from "./subjects.ts"

/** What an answer tells of how its request was classified: the uids of the flow schema and the priority level. */
export const levelHeaders = ["x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid"] as const

export type FlowSchemaSpec = Partial<Wire<models.V1FlowSchemaSpec>>
type Rule = Partial<NonNullable<FlowSchemaSpec["rules"]>[number]>
type ResourceRule = NonNullable<Rule["resourceRules"]>[number]
type NonResourceRule = NonNullable<Rule["nonResourceRules"]>[number]

/** A flow schema or a priority level. */
export interface FlowObject {
  name: string
  spec: Omit<FlowSchemaSpec, "rules">
  rules: readonly IndexedRule[]
  /** Undefined for bootstrap objects, which are shared by all control planes and differ only in their uid. */
  uid: string | undefined
  key: string
}

interface Classification {
  /** The names of schema and level. */
  schema: string
  level: string
  /** The headers of the response. */
  headers: Readonly<Record<string, string>>
  /** The metric series of such requests. */
  series: FlowSeries | undefined
}

interface IndexedRule extends Pick<Rule, "resourceRules" | "nonResourceRules"> {
  subjects: Subjects
}

export class Flows {
  readonly #schemas: readonly FlowObject[]
  readonly #levels: ReadonlyMap<string, FlowObject>
  readonly #classifications = new Map<FlowObject, Classification>()
  readonly #baseUid: (key: string) => string
  /** The names of the levels. */
  readonly levels: readonly string[]

  /**
   * Schemas in the order of comparePrecedence(); levels by name, which do not change as long as this is used. `baseUid`: returns the uid of
   * a bootstrap object; called when a request matches it.
   */
  constructor(
    schemas: readonly FlowObject[],
    levels: ReadonlyMap<string, FlowObject>,
    baseUid: (key: string) => string,
  ) {
    this.#baseUid = baseUid
    this.levels = [...levels.keys()]
    this.#schemas = schemas
    this.#levels = levels
  }

  /** Undefined: nothing matches, which requires that the catch-all schema was deleted. */
  classify(user: User, info: RequestInfo): Classification | undefined {
    const caller = callerOf(user)
    for (const schema of this.#schemas) {
      const level = this.#levels.get(schema.spec.priorityLevelConfiguration?.name ?? "")
      if (level === undefined) continue
      for (const rule of schema.rules) if (matchesRule(rule, caller, info)) return this.#classificationOf(schema, level)
    }
    return undefined
  }

  #classificationOf(schema: FlowObject, level: FlowObject): Classification {
    const known = this.#classifications.get(schema)
    if (known !== undefined) return known
    const [flow, priority] = [schema, level].map(({ key, uid }) => uid ?? this.#baseUid(key))
    const headers = {
      [levelHeaders[0]]: flow ?? "",
      [levelHeaders[1]]: priority ?? "",
    }
    const classification = { schema: schema.name, level: level.name, headers, series: undefined }
    this.#classifications.set(schema, classification)
    return classification
  }
}

/** The order in which schemas are asked whether they match a request. */
export function comparePrecedence(a: Ranked, b: Ranked): number {
  return (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0) || (a.name < b.name ? -1 : 1)
}

interface Ranked {
  name: string
  spec?: { matchingPrecedence?: number }
}

const anything = "*"

export function indexRules(rules: readonly Rule[] = []): IndexedRule[] {
  return rules.map(({ subjects, ...rule }) => ({ ...rule, subjects: new Subjects(subjects) }))
}

function matchesRule(
  { subjects, resourceRules = [], nonResourceRules = [] }: IndexedRule,
  caller: Caller,
  info: RequestInfo,
) {
  if (!subjects.include(caller)) return false
  return info.isResourceRequest
    ? resourceRules.some((rule) => matchesResource(rule, info))
    : nonResourceRules.some((rule) => matchesPath(rule, info))
}

function matchesResource(
  { verbs, apiGroups, resources, namespaces = [], clusterScope }: ResourceRule,
  info: RequestInfo,
) {
  const resource = info.subresource === "" ? info.resource : `${info.resource}/${info.subresource}`
  if (!contains(verbs, info.verb) || !contains(resources, resource) || !contains(apiGroups, info.group)) return false
  return info.namespace === "" ? clusterScope === true : contains(namespaces, info.namespace)
}

function matchesPath({ verbs, nonResourceURLs }: NonResourceRule, { verb, path }: RequestInfo): boolean {
  return contains(verbs, verb) && nonResourceURLs.some((url) => url === anything || url === path || isBelow(path, url))
}

function isBelow(path: string, url: string): boolean {
  const prefix = url.endsWith(anything) ? url.slice(0, -1) : url
  return path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`)
}

/** Validation allows the wildcard only as the single entry. */
function contains(list: readonly string[], text: string): boolean {
  return list.includes(text) || (list.length === 1 && list[0] === anything)
}
