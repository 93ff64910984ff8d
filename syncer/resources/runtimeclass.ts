// Runtime classes of tenants: each goes by a name of its own in super, as a namespace does. Where super has a class of that
// very name, that one is meant, and what it runs is its administrator's to say. Which handlers a tenant may name at all is for
// admission in the super cluster.

import type { KubeObject } from "../../apimachinery/object.ts"
import { superNamespace } from "../../apimachinery/tenancy.ts"
import { runtimeClasses } from "../../client/resources.ts"
import type { Tenant } from "../../client/tenants.ts"
import { equalButNulls } from "../../apimachinery/equality.ts"
import { mergeDiff } from "../conversion/equality.ts"
import { recordedOwner } from "../conversion/ownership.ts"
import type { ResourceSync, View } from "./resource-sync.ts"

type RuntimeClass = KubeObject & { handler: string; overhead?: object; scheduling?: object }

export const runtimeClass: ResourceSync<RuntimeClass> = {
  resource: runtimeClasses,
  kind: "RuntimeClass",
  synced: ({ metadata }, { view }) => !superHas(metadata.name ?? "", view),
  toSuper: (object) => ({
    apiVersion: "node.k8s.io/v1",
    kind: "RuntimeClass",
    metadata: {},
    handler: object.handler,
    ...contents(object),
  }),
  // The handler is immutable.
  changed(object, superObject) {
    const desired = contents(object)
    const { overhead, scheduling } = superObject
    const current = { ...(overhead && { overhead }), ...(scheduling && { scheduling }) }
    return equalButNulls(desired, current) ? [] : [{ patch: mergeDiff(current, desired) as Record<string, unknown> }]
  },
}

/** By the tenant's name of a class: super's, as pods there name it. */
export function superRuntimeClass(name: string, tenant: Tenant, view: View): string {
  return superHas(name, view) ? name : superNamespace(tenant.clusterKey, name)
}

/** One of its own, that is. */
function superHas(name: string, view: View): boolean {
  const found = view.superObject(runtimeClasses, undefined, name)
  return found !== undefined && recordedOwner(found) === undefined
}

/** Not where its pods go: that is in the pods already, and speaks of labels and taints as the tenant sees them. */
function contents({ overhead }: RuntimeClass): Record<string, unknown> {
  return overhead === undefined ? {} : { overhead }
}
