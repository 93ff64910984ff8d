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

  test("has a name of its own in super, which leads back to it", () => {
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

  test("names no other tenant's resources in its overhead", () => {
    const others = "example.com.default-other.tenancy.x-k8s.io/dongle"
    const greedy = { ...gvisor, overhead: { podFixed: { cpu: "1", [others]: "1" } } }
    const own = `example.com.default-other.tenancy.x-k8s.io.${tenant.clusterKey}.tenancy.x-k8s.io/dongle`
    expect(buildSuperObject(sync, greedy, contextWith())).toMatchObject({
      overhead: { podFixed: { cpu: "1", [own]: "1" } },
    })
  })

  test("is made anew if somebody has replaced it by one of another handler, which never changes", () => {
    expect(sync.outdated?.(gvisor, copy, contextWith())).toBe(false)
    expect(sync.outdated?.(gvisor, { ...copy, handler: "runc" }, contextWith())).toBe(true)
  })

  test("has no scheduling in super, as the pods have it", () => {
    expect(copy).not.toHaveProperty("scheduling")
    const former = { ...copy, scheduling: gvisor.scheduling }
    expect(sync.changed(gvisor, former, contextWith())).toEqual([{ patch: { scheduling: null } }])
  })

  test("records the VirtualCluster with which it is removed", () => {
    expect(copy.metadata.annotations).toMatchObject({ "tenancy.x-k8s.io/vcuid": tenant.virtualCluster.uid })
  })

  test("with the name of one of super's own classes is not copied", () => {
    const context = contextWith({ apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: { name: "gvisor" } })
    expect(sync.synced?.(gvisor, context)).toBe(false)
    expect(superRuntimeClass("gvisor", tenant, context.view)).toBe("gvisor")
  })
})
