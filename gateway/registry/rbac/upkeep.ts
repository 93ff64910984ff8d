// What becomes of the initial roles and bindings when a server starts: permissions and subjects that are missing are added, others
// remain. An annotation excludes an object from this. Source: k8s.io/component-helpers/auth/rbac/reconciliation.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { covers } from "../../authorization/rules.ts"
import type { PolicyRule } from "../../authorization/types.ts"
import { semanticEqual } from "../validation/equality.ts"

const annotation = "rbac.authorization.kubernetes.io/autoupdate"

interface Role extends KubeObject {
  rules?: readonly PolicyRule[] | null
  aggregationRule?: { clusterRoleSelectors?: readonly object[] } | null
}

interface Binding extends KubeObject {
  subjects?: readonly object[] | null
  roleRef?: object
}

/** What it must be changed to. undefined: it may remain as it is. */
export function revisedRole(current: Role, initial: Role): Role | undefined {
  if (isProtected(current)) return undefined
  const rules = [...(current.rules ?? []), ...covers(current.rules ?? [], initial.rules ?? [])]
  const held = current.aggregationRule?.clusterRoleSelectors ?? []
  const selectors = [...held, ...missingIn(held, initial.aggregationRule?.clusterRoleSelectors ?? [])]
  const { aggregationRule: _, ...rest } = withMetadataOf(initial, current)
  const isAggregated = initial.aggregationRule !== undefined && initial.aggregationRule !== null
  const revised: Role = {
    ...rest,
    ...(rules.length === 0 ? {} : { rules }),
    ...(isAggregated ? { aggregationRule: { ...current.aggregationRule, clusterRoleSelectors: selectors } } : {}),
  }
  return semanticEqual(revised, current) ? undefined : revised
}

/** "again": it leads to another role, so it must be deleted and created again. */
export function revisedBinding(current: Binding, initial: Binding): Binding | "again" | undefined {
  if (isProtected(current)) return undefined
  if (!semanticEqual(current.roleRef, initial.roleRef)) return "again"
  const held = current.subjects ?? []
  const subjects = [...held, ...missingIn(held, initial.subjects ?? [])]
  const revised: Binding = { ...withMetadataOf(initial, current), ...(subjects.length === 0 ? {} : { subjects }) }
  return semanticEqual(revised, current) ? undefined : revised
}

const isProtected = ({ metadata }: KubeObject): boolean => metadata.annotations?.[annotation] === "false"

function missingIn(held: readonly object[], wanted: readonly object[]): readonly object[] {
  return wanted.filter((one) => !held.some((other) => semanticEqual(one, other)))
}

/** Labels and annotations that are there remain. */
function withMetadataOf<T extends KubeObject>(initial: KubeObject, current: T): T {
  const labels = { ...initial.metadata.labels, ...current.metadata.labels }
  const annotations = { ...initial.metadata.annotations, ...current.metadata.annotations }
  const metadata = {
    ...current.metadata,
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
  return { ...current, metadata }
}
