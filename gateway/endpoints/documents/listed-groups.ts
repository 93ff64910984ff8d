// The groups that legacy discovery lists: those of all APIServices, whether somebody serves them or not, and of custom resources,
// whose APIServices may not have been written yet. What is built in is listed while it has its APIServices.

import { type APIService, apiServices, isManaged } from "../../../client/api-services.ts"
import { inOrder, isBuiltInGroup, ownRank, type Ranked, rankOf, serviceName } from "../../aggregation/priorities.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"

export interface ListedGroups {
  /** In their order, with their versions. */
  groups: ReadonlyMap<string, readonly Ranked[]>
  /** They depend on what is served only. */
  isUsual: boolean
}

const known = new WeakMap<readonly ResourceDefinition[], { services: readonly APIService[]; listed: ListedGroups }>()

/** Made once for each state of both. */
export function listedGroups(
  definitions: readonly ResourceDefinition[],
  services: readonly APIService[],
): ListedGroups {
  const made = known.get(definitions)
  if (made?.services === services) return made.listed
  const listed = list(definitions, services)
  known.set(definitions, { services, listed })
  return listed
}

function list(definitions: readonly ResourceDefinition[], services: readonly APIService[]): ListedGroups {
  const ranks = new Map<string, Ranked>()
  const registered = new Set(services.map(({ metadata }) => metadata.name))
  let isUsual = true
  for (const { group, version } of definitions) {
    const name = serviceName({ group, version })
    const isListed = !isBuiltInGroup(group) || group === apiServices.group || registered.has(name)
    if (group === "") continue
    if (isListed) ranks.set(name, ownRank(group, version))
    else isUsual = false
  }
  for (const service of services) {
    const rank = rankOf(service)
    const own = ranks.get(serviceName(rank))
    if (own === undefined) {
      // What the server made itself goes with its definition.
      if (isManaged(service) || rank.group === "" || isBuiltInGroup(rank.group)) continue
    } else if (own.groupPriority === rank.groupPriority && own.versionPriority === rank.versionPriority) continue
    ranks.set(serviceName(rank), rank)
    isUsual = false
  }
  return { groups: inOrder([...ranks.values()], serviceName), isUsual }
}

/** Of a group that nobody has registered: its own versions. */
export function servedVersions(
  definitions: readonly ResourceDefinition[],
  name: string,
): readonly Ranked[] | undefined {
  const own = definitions.filter(({ group }) => group === name)
  const ranks = new Map(own.map((one) => [serviceName(one), ownRank(name, one.version)]))
  return inOrder([...ranks.values()], serviceName).get(name)
}
