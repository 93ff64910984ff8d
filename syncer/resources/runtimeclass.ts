// Runtime classes of tenants: each has a tenant-specific name in super, as namespaces do. If super has a class of the same name of its
// own, pods use that one, and super's administrator decides what it runs. Admission in the super cluster decides which handlers a
// tenant may use.

import type { KubeObject } from "../../apimachinery/object.ts"
import { superNamespace } from "../../apimachinery/tenancy.ts"
import { runtimeClasses } from "../../client/resources.ts"
import type { Tenant } from "../../client/tenants.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { mergeDiff } from "../conversion/equality.ts"
import { recordedOwner } from "../conversion/ownership.ts"
import { isTenantsResource, ownName, renamed } from "../conversion/resource-names.ts"
import type { ResourceSync, View } from "./resource-sync.ts"

type RuntimeClass = KubeObject & {
  handler: string
  overhead?: { podFixed?: Readonly<Record<string, string>> }
  scheduling?: object
}

export const runtimeClass: ResourceSync<RuntimeClass> = {
  resource: runtimeClasses,
  kind: "RuntimeClass",
  synced: ({ metadata }, { view }) => !superHas(metadata.name ?? "", view),
  toSuper: (object, { tenant }) => ({
    apiVersion: "node.k8s.io/v1",
    kind: "RuntimeClass",
    metadata: {},
    handler: object.handler,
    ...contents(object, tenant),
  }),
  // Somebody may have replaced the copy: the handler never changes.
  outdated: (object, superObject) => object.handler !== superObject.handler,
  changed(object, superObject, { tenant }) {
    const desired = contents(object, tenant)
    const { overhead, scheduling } = superObject
    const current = { ...(overhead && { overhead }), ...(scheduling && { scheduling }) }
    return equalIgnoringNulls(desired, current)
      ? []
      : [{ patch: mergeDiff(current, desired) as Record<string, unknown> }]
  },
}

/** The name in super for the tenant's class, to be used in pods there. */
export function superRuntimeClass(name: string, tenant: Tenant, view: View): string {
  return superHas(name, view) ? name : superNamespace(tenant.clusterKey, name)
}

/** A class that super's administrator created, not a copy. */
function superHas(name: string, view: View): boolean {
  const found = view.superObject(runtimeClasses, undefined, name)
  return found !== undefined && recordedOwner(found) === undefined
}

/** Without `scheduling`: the pods contain it already, and it refers to labels and taints as the tenant sees them. */
function contents({ overhead }: RuntimeClass, tenant: Tenant): Record<string, unknown> {
  if (overhead === undefined) return {}
  // Super adds it to what pods ask for, where the names of others' resources are taken from them as well.
  const podFixed = renamed(overhead.podFixed, (name) => (isTenantsResource(name) ? ownName(name, tenant) : undefined))
  return { overhead: { ...overhead, ...(podFixed === undefined ? {} : { podFixed }) } }
}
