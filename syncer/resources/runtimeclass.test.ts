import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { superNamespace } from "../../apimachinery/tenancy.ts"
import { runtimeClasses } from "../../client/resources.ts"
import { buildSuperObject } from "../conversion/super-object.ts"
import { superKey } from "../key-of-super.ts"
import { defaultSettings } from "../options.ts"
import { fakeTenant } from "../testing/fake-tenants.ts"
import type { ResourceSync, SyncContext } from "./resource-sync.ts"
import { runtimeClass, superRuntimeClass } from "./runtimeclass.ts"

const tenant = fakeTenant("acme")
const sync = runtimeClass as unknown as ResourceSync
const gvisor = {
  apiVersion: "node.k8s.io/v1",
  kind: "RuntimeClass",
  metadata: { name: "gvisor", uid: "u1" },
  handler: "runsc",
  overhead: { podFixed: { cpu: "100m" } },
  scheduling: { nodeSelector: { color: "blue" } },
}

function contextWith(...objects: KubeObject[]): SyncContext {
  const superObject = <T extends KubeObject>(_resource: unknown, _namespace: unknown, name: string) =>
    objects.find(({ metadata }) => metadata.name === name) as T | undefined
  return {
    tenant,
    settings: defaultSettings,
    now: 0,
    view: { tenantObject: () => undefined, tenantObjects: () => [], nominatedPods: () => [], superObject },
  }
}

describe("a tenant's runtime class", () => {
  const own = superNamespace(tenant.clusterKey, "gvisor")
  const copy = buildSuperObject(sync, gvisor, contextWith())

  test("goes by a name of its own in super, and is found from there", () => {
    expect(copy).toMatchObject({ metadata: { name: own }, handler: "runsc", overhead: gvisor.overhead })
    expect(superRuntimeClass("gvisor", tenant, contextWith(copy).view)).toBe(own)
    expect(superKey(sync, "acme", copy)).toEqual({
      tenant: "acme",
      resource: runtimeClasses.resource,
      namespace: "",
      name: "gvisor",
    })
    expect(sync.changed(gvisor, copy, contextWith())).toEqual([])
  })

  test("does not say in super where its pods go: the tenant's nodes are not super's, and the pods say it", () => {
    expect(copy).not.toHaveProperty("scheduling")
    const former = { ...copy, scheduling: gvisor.scheduling }
    expect(sync.changed(gvisor, former, contextWith())).toEqual([{ patch: { scheduling: null } }])
  })

  test("tells with which VirtualCluster it goes", () => {
    expect(copy.metadata.annotations).toMatchObject({ "tenancy.x-k8s.io/vcuid": tenant.virtualCluster.uid })
  })

  test("of a name that super has a class of its own by means that one, and is not copied", () => {
    const context = contextWith({ apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: { name: "gvisor" } })
    expect(sync.synced?.(gvisor, context)).toBe(false)
    expect(superRuntimeClass("gvisor", tenant, context.view)).toBe("gvisor")
  })
})
