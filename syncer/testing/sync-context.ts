// What conversions of one tenant's objects are given.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { Resource } from "../../client/rest.ts"
import { settingsOf } from "../options.ts"
import type { SyncContext } from "../resources/resource-sync.ts"
import { fakeTenant } from "./fake-tenants.ts"

export const tenant = fakeTenant("acme")

/** `objects`: those of the tenant. */
export function contextWith(objects: KubeObject[] = []): SyncContext {
  const find = <T extends KubeObject>(
    _resource: Resource,
    namespace: string | undefined,
    name: string,
  ): T | undefined =>
    objects.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace) as T | undefined
  return {
    tenant,
    settings: settingsOf({}),
    now: 0,
    view: { tenantObject: find, tenantObjects: () => [], nominatedPods: () => [], superObject: () => undefined },
  }
}

/** Of any kind. */
export const object = <T extends KubeObject>(more: object): T =>
  ({ apiVersion: "v1", kind: "X", metadata: { namespace: "default", name: "web", uid: "u1" }, ...more }) as unknown as T
