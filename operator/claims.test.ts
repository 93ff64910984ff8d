import { describe, expect, test } from "vitest"
import { adoptAnnotation, clusterKey } from "../apimachinery/tenancy.ts"
import type { Tenant } from "../client/tenants.ts"
import { claimsOf, isOf } from "./claims.ts"
import { tenancyAPIVersion, type VirtualCluster } from "./types.ts"

const identity = (uid: string, namespace = "default") => ({ namespace, name: "acme", uid })
const keyOf = (uid: string): string => clusterKey(identity(uid, "default"))

function virtualCluster(adopts?: string, clusterNamespace?: string): VirtualCluster {
  return {
    apiVersion: tenancyAPIVersion,
    kind: "VirtualCluster",
    metadata: { ...identity("new"), ...(adopts === undefined ? {} : { annotations: { [adoptAnnotation]: adopts } }) },
    ...(clusterNamespace === undefined ? {} : { status: { clusterNamespace } }),
  }
}

describe("a VirtualCluster claims", () => {
  test.each<[string, VirtualCluster, [uid: string, key: string][]]>([
    ["its own", virtualCluster(), [["new", keyOf("new")]]],
    [
      "what it adopts as well",
      virtualCluster("old"),
      [
        ["new", keyOf("new")],
        ["old", keyOf("old")],
      ],
    ],
    ["no key that only its status names", virtualCluster(undefined, "kube-system"), [["new", keyOf("new")]]],
  ])("%s", (_, object, claims) => {
    expect(claimsOf(object).map(({ identity: { uid }, clusterKey: key }) => [uid, key])).toEqual(claims)
  })

  test("no tenant of another namespace", () => {
    const tenant = { virtualCluster: identity("old", "theirs") } as Tenant
    const [, adopted] = claimsOf(virtualCluster("old"))
    expect(isOf(tenant, adopted!.identity)).toBe(false)
    expect(isOf({ virtualCluster: identity("old") } as Tenant, adopted!.identity)).toBe(true)
  })
})
