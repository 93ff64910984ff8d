import { expect, test } from "vitest"
import type { KubeObject } from "../apimachinery/object.ts"
import { forbidden } from "../apimachinery/status.ts"
import { nodes } from "../client/resources.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { Publisher, type PublisherParts } from "./publisher.ts"
import type { Publication } from "./resources/resource-sync.ts"
import { FakeTenants } from "./testing/fake-tenants.ts"
import { object } from "./testing/harness.ts"
import { contextWith, tenant } from "./testing/sync-context.ts"

function fail(what: string): never {
  throw new Error(what)
}

const ofTenant = (): never => fail("the tenant refuses")
const ofSuper = (): never => fail("super does not answer")

const refusal = (): never => {
  throw forbidden(nodes, "node-1", "refused")
}

test.each([
  ["that of super, if the tenant refuses", { toTenant: refusal, claim: ofSuper }, "super does not answer"],
  ["that of the tenant, if both refuse", { toTenant: () => refusal(), claim: refusal }, "refused"],
  ["that of the tenant", { toTenant: ofTenant, claim: ofSuper }, "the tenant refuses"],
  ["that of the tenant only", { toTenant: ofTenant, claim: () => undefined }, "the tenant refuses"],
  ["that of super, if the tenant has none", { toTenant: () => undefined, claim: ofSuper }, "super does not answer"],
])("the failure of a publication is %s", async (_what, fails, message) => {
  const tenants = new FakeTenants()
  tenants.add(tenant)
  const context = contextWith()
  const superObject = <T extends KubeObject>(): T => object("Node", undefined, "node-1") as T
  const publisher = new Publisher({
    tenants,
    superClient: new FakeCluster(),
    contextOf: () => ({ ...context, view: { ...context.view, superObject } }),
  } as unknown as PublisherParts)
  const kind: Publication = { resource: nodes, isPublished: () => true, changed: () => [], ...fails }
  await expect(publisher.publish(kind, tenant, "node-1")).rejects.toThrow(message)
})
