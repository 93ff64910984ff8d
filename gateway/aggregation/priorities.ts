// The order of groups and versions in discovery: by the priorities in their APIServices. Source:
// k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper, k8s.io/apiserver/pkg/endpoints/discovery/aggregated.

import { bootstrapObjects } from "../../apimachinery/schema/facts.ts"
import { compareVersions } from "../../apimachinery/version-order.ts"
import { type APIService, apiServices } from "../../client/api-services.ts"

export interface Ranked {
  group: string
  version: string
  groupPriority: number
  versionPriority: number
}

/** Custom resources come after everything that is built in. */
export const customPriorities = { groupPriorityMinimum: 1000, versionPriority: 100 }

export function rankOf({ spec }: APIService): Ranked {
  const { group = "", version = "", groupPriorityMinimum = 0, versionPriority = 0 } = spec ?? {}
  return { group, version, groupPriority: groupPriorityMinimum, versionPriority }
}

let builtIn: ReadonlyMap<string, Ranked> | undefined
let builtInGroups: ReadonlySet<string> | undefined

/** By the names of their APIServices. */
function builtInRanks(): ReadonlyMap<string, Ranked> {
  if (builtIn === undefined) {
    const all = bootstrapObjects().filter(({ kind }) => kind === "APIService") as readonly APIService[]
    // There is no APIService for the group of APIServices, which is the first one.
    const { group, version } = apiServices
    const first = { group, version, groupPriority: Infinity, versionPriority: 0 }
    builtIn = new Map([first, ...all.map(rankOf)].map((rank) => [serviceName(rank), rank]))
  }
  return builtIn
}

/** Groups of Kubernetes itself are never aggregated, nor have they other versions than Kubernetes serves. */
export function isBuiltInGroup(group: string): boolean {
  builtInGroups ??= new Set([...builtInRanks().values()].map((rank) => rank.group))
  return builtInGroups.has(group)
}

/** Of this server's own group versions, whatever their APIServices say. */
export function ownRank(group: string, version: string): Ranked {
  return (
    builtInRanks().get(serviceName({ group, version })) ??
    rankOf({ spec: { group, version, ...customPriorities } } as APIService)
  )
}

export function serviceName({ group, version }: Pick<Ranked, "group" | "version">): string {
  return `${version}.${group}`
}

/** Groups by their highest priority, then by the name of what has it; each with its versions, preferred ones first. */
export function inOrder<T extends Ranked>(all: readonly T[], nameOf: (one: T) => string): Map<string, T[]> {
  const byGroup = all.toSorted(
    (a, b) => b.groupPriority - a.groupPriority || (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0),
  )
  const groups = Map.groupBy(byGroup, ({ group }) => group)
  for (const versions of groups.values()) {
    versions.sort((a, b) => b.versionPriority - a.versionPriority || compareVersions(a.version, b.version))
  }
  return groups
}
