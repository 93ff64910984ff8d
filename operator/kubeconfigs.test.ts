// Kubeconfigs in tenants' root namespaces.

import { describe, expect, test, vi } from "vitest"
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

  test.each([
    ["its user, whose tenant is not woken", false],
    ["another user, if somebody has rewritten it", true],
  ])("gives a kubeconfig another address when the gateway's changes, and %s", async (_what, isRewritten) => {
    await create("default", "acme")
    const { status } = await inPhase("default", "acme", "Running")
    const key = status!.clusterNamespace!
    const stored = (): { text: string; annotations: unknown } => {
      const { data, metadata } = superCluster.find<Secret>(secrets, key, "admin-kubeconfig")!
      return {
        text: Buffer.from(data!["admin-kubeconfig"]!, "base64").toString(),
        annotations: metadata.annotations,
      }
    }
    const before = stored()
    await operator[Symbol.asyncDispose]()
    if (isRewritten) {
      const text = before.text.replace("server:", '"server":')
      const data = { "admin-kubeconfig": Buffer.from(text).toString("base64") }
      superCluster.edit(secrets, key, "admin-kubeconfig", { data })
    }
    tenants.server = "https://two"
    const issued = vi.spyOn(tenants, "kubeconfig")
    await start()
    await eventually(() => stored().text.includes(" server: https://two/tenants/acme\n"), { what: "the new address" })
    expect(issued).toHaveBeenCalledTimes(isRewritten ? 1 : 0)
    const moved = { ...before, text: before.text.replace("https://one", "https://two") }
    if (!isRewritten) expect(stored()).toEqual(moved)
  })
})
