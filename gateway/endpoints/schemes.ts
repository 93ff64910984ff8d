// Which Go type kube-apiserver has for the kind that a body claims to be, as its errors name it. Each of its schemes has types for the
// kinds of its groups, and for those that are common to all. Source: k8s.io/apimachinery/pkg/runtime/scheme.go (New).

import { goQuote } from "../../apimachinery/go/quote.ts"
import { type GroupVersionKind, printGroupVersion } from "../../apimachinery/object.ts"
import { builtInResources, kindsOfEveryVersion, schemaOf } from "../../apimachinery/schema/facts.ts"
import { isUnserved, unservedVersions } from "../../apimachinery/schema/unserved.ts"
import { isDelegated } from "../registry/delegated-groups.ts"

/** The version of the types that Go has in memory. */
const internal = "__internal"

/** Kinds that exist in any version of any group. Source: k8s.io/apimachinery/pkg/apis/meta/v1/register.go. */
const unversioned: ReadonlySet<string> = new Set([
  "Status",
  "APIVersions",
  "APIGroup",
  "APIGroupList",
  "APIResourceList",
])
const tables: ReadonlySet<string> = new Set(["Table", "TableOptions", "PartialObjectMetadata"])

/** The type of a kind, such as "v1.Status", in the scheme to which `home` belongs: a group. Undefined: there is none. */
export function typeIn(home: string, { group, version, kind }: GroupVersionKind): string | undefined {
  if (unversioned.has(kind)) return `v1.${kind}`
  if (schemeOf(group) !== schemeOf(home)) return undefined
  const versions = versionsOf(group)
  if (version === internal) {
    if (kind === "WatchEvent") return versions.size === 0 ? undefined : "v1.InternalEvent"
    const isThere = [...versions].some(
      (one) => !kindsOfEveryVersion.has(kind) && isKnown({ group, version: one, kind }),
    )
    return isThere ? `${kind === "Scale" ? "autoscaling" : packageOf(group)}.${kind}` : undefined
  }
  if (!versions.has(version)) return undefined
  if (kindsOfEveryVersion.has(kind)) return `v1.${kind}`
  return isKnown({ group, version, kind }) ? `${version}.${kind}` : undefined
}

const isKnown = (kind: GroupVersionKind): boolean =>
  schemaOf(kind) !== undefined || isUnserved(printGroupVersion(kind), kind.kind)

function versionsOf(group: string): ReadonlySet<string> {
  const served = builtInResources().filter((resource) => resource.group === group)
  return new Set([...served.map(({ version }) => version), ...unservedVersions(group)])
}

/** The scheme of the group alone, or "" for the one that all others share. */
const schemeOf = (group: string): string => (isDelegated(group) ? group : "")

/** The package of a group's internal types. */
export function packageOf(group: string): string {
  return group === "" || group === "events.k8s.io" ? "core" : group.replace(/\..*/, "")
}

/** The same in the scheme of options. Source: k8s.io/apimachinery/pkg/apis/meta/internalversion/register.go. */
export function typeOfOptions({ group, version, kind }: GroupVersionKind): string | undefined {
  const isInternal = version === internal
  if (unversioned.has(kind) || ["DeleteOptions", "CreateOptions", "UpdateOptions"].includes(kind)) return `v1.${kind}`
  if (group !== "meta.k8s.io" || !["v1", "v1beta1", internal].includes(version)) return undefined
  if (kind === "PartialObjectMetadataList") return `${version === "v1" ? "v1" : "v1beta1"}.${kind}`
  if (tables.has(kind)) return `v1.${kind}`
  if (isInternal && kind === "ListOptions") return "internalversion.ListOptions"
  if (isInternal && kind === "WatchEvent") return "v1.InternalEvent"
  return (version === "v1" && kindsOfEveryVersion.has(kind)) || (isInternal && kind === "GetOptions")
    ? `v1.${kind}`
    : undefined
}

/** What Go says of a kind for which a scheme has no type. */
export function notRegistered({ group, version, kind }: GroupVersionKind): string {
  const where =
    version === internal
      ? `the internal version of group ${goQuote(group)}`
      : `version ${goQuote(printGroupVersion({ group, version }))}`
  return `no kind ${goQuote(kind)} is registered for ${where}`
}
