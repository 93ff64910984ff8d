import { expect, test } from "vitest"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { Resource } from "../../../../client/rest.ts"
import type { Tenant } from "../../../../client/tenants.ts"
import { createMemoryStore } from "../../../../storage/memory/store.ts"
import { StorageError } from "../../../../storage/types.ts"
import { createControlPlaneStub } from "../../../testing/control-plane-stub.ts"

const resource: Resource = { group: "", version: "v1", resource: "componentstatuses", namespaced: false }
const healthy = { type: "Healthy", status: "True", message: "ok" }

function statusesOf(controllers: boolean) {
  const store = createMemoryStore()
  const controlPlane = Object.assign(createControlPlaneStub({ store }), { tenant: { controllers } as Tenant })
  const registry = controlPlane.resources.registry(resource)
  const list = async () => {
    const { items = [], resourceVersion } = (await registry?.list({ controlPlane } as never, {})) ?? {}
    return { resourceVersion, items: items.map((item) => item.object() as KubeObject & { conditions: object[] }) }
  }
  return { store, list }
}

test.each([
  [true, ["controller-manager", "etcd-0"]],
  [false, ["etcd-0"]],
])("the statuses of a tenant with controllers in this process (%s) are %j", async (controllers, names) => {
  const { items, resourceVersion } = await statusesOf(controllers).list()
  expect(resourceVersion).toBe("")
  expect(items.map(({ metadata }) => metadata)).toEqual(names.map((name) => ({ name })))
  for (const { conditions } of items) expect(conditions).toEqual([healthy])
})

test("an unresponsive store is unhealthy", async () => {
  const { store, list } = statusesOf(false)
  store.get = () => Promise.reject(new StorageError("Closed", "it is closed"))
  const { items } = await list()
  expect(items[0]?.conditions).toEqual([{ type: "Healthy", status: "False", error: "it is closed" }])
})
