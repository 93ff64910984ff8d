// Kubeconfigs in tenants' root namespaces.

import { describe, expect, test } from "vitest"
import type { Secret } from "../apimachinery/object.ts"
import { namespaces, secrets, virtualClusters } from "../client/resources.ts"
import type { Resource } from "../client/rest.ts"
import { eventually } from "../test/harness/eventually.ts"
import type { VirtualCluster } from "./main.ts"
import { create, inPhase, operator, start, superCluster, tenants, useOperator } from "./testing/operator.ts"

useOperator()

describe("the operator", () => {
  test.each<[what: string, resource: Resource]>([
    ["it", secrets],
    ["its namespace", namespaces],
  ])("makes a kubeconfig again when somebody deletes %s", async (_what, resource) => {
    await create("default", "acme")
    const { status } = await inPhase("default", "acme", "Running")
    const key = status!.clusterNamespace!
    const find = () => superCluster.find<Secret>(secrets, key, "admin-kubeconfig")
    const before = find()
    if (resource === namespaces) await superCluster.delete(namespaces, undefined, key)
    else await superCluster.delete(secrets, key, "admin-kubeconfig")
    await eventually(() => find() !== undefined && find() !== before, { what: "another kubeconfig" })
    expect(superCluster.find<VirtualCluster>(virtualClusters, "default", "acme")?.status).toEqual(status)
  })

  test("renews the kubeconfig when the gateway's address changes", async () => {
    await create("default", "acme")
    const { status } = await inPhase("default", "acme", "Running")
    await operator[Symbol.asyncDispose]()
    tenants.server = "https://two"
    await start()
    await eventually(
      () => {
        const secret = superCluster.find<Secret>(secrets, status!.clusterNamespace!, "admin-kubeconfig")
        return Buffer.from(secret!.data!["admin-kubeconfig"]!, "base64").toString().includes("https://two")
      },
      { what: "the new address" },
    )
  })
})
