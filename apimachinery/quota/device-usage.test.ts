import { describe, expect, test } from "vitest"
import { type DeviceOffers, deviceOffers, noOffers } from "./device-usage.ts"
import type { KubeObject, Pod } from "../object.ts"
import { printQuantity } from "../quantity.ts"
import { quotaNamesOf, usageOf } from "./usage.ts"

const group = "resource.k8s.io"
const resource = "resourceclaims"
const gpu = "requests.example.com/gpu"
const implicit = "requests.deviceclass.resource.kubernetes.io/gold"
const ofPod = { "resource.kubernetes.io/extended-resource-claim": "true" }

const deviceClass = (name: string, extendedResourceName?: string): KubeObject => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "DeviceClass",
  metadata: { name },
  spec: extendedResourceName === undefined ? {} : { extendedResourceName },
})

function claim(name: string, count: number, metadata: KubeObject["metadata"] = {}): KubeObject {
  const requests = [{ name: "r", exactly: { deviceClassName: "gold", count } }]
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name, ...metadata },
    spec: { devices: { requests } },
  }
}

const owned = (uid: string, more: KubeObject["metadata"] = {}): KubeObject["metadata"] => ({
  annotations: ofPod,
  ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid, controller: true }],
  ...more,
})

const pod = (claimName?: string): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", uid: "1" },
  spec: { containers: [{ name: "a", resources: { requests: { "example.com/gpu": "2" } } }] },
  status: (claimName === undefined
    ? {}
    : { extendedResourceClaimStatus: { resourceClaimName: claimName } }) as NonNullable<Pod["status"]>,
})

const offers = (claims: readonly KubeObject[] = [], pods: readonly Pod[] = []): DeviceOffers =>
  deviceOffers([deviceClass("gold", "example.com/gpu"), deviceClass("iron")], claims, pods, (one) =>
    usageOf("", "pods", one),
  )

function usage(object: KubeObject, of: DeviceOffers): Record<string, string> {
  const amounts = usageOf(group, resource, object, of)
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, printQuantity(amount)]))
}

test("a claim is counted by its class and by the extended resources that the class offers", () => {
  expect(usage(claim("c", 3), offers())).toEqual({
    "count/resourceclaims.resource.k8s.io": "1",
    "gold.deviceclass.resource.k8s.io/devices": "3",
    [implicit]: "3",
    [gpu]: "3",
  })
  expect(usage(claim("c", 3), noOffers)).not.toHaveProperty(gpu)
})

test("a quota limits claims by extended resources of existing classes only", () => {
  const names = [implicit, gpu, "requests.deviceclass.resource.kubernetes.io/iron", "requests.example.com/none"]
  expect(
    quotaNamesOf(group, resource, [...names, "requests.deviceclass.resource.kubernetes.io/tin"], offers()),
  ).toEqual(names.slice(0, 3))
  expect(quotaNamesOf(group, resource, names)).toEqual([])
})

describe("a claim for the extended resources of a pod is counted", () => {
  const remaining = (one: KubeObject, others: readonly KubeObject[], owner: Pod): string | undefined =>
    usage(one, offers([...others, one], [owner]))[gpu]

  test("without the amount that the pod is counted for", () => {
    expect(remaining(claim("c", 3, owned("1")), [], pod("c"))).toBe("1")
    expect(remaining(claim("c", 2, owned("1")), [], pod())).toBeUndefined()
  })

  test("in full unless the pod names it, exists, and is its controller", () => {
    expect(remaining(claim("c", 3, owned("1")), [], pod("other"))).toBe("3")
    expect(remaining(claim("c", 3, owned("2")), [], pod("c"))).toBe("3")
    expect(remaining(claim("c", 3, { ...owned("1"), annotations: {} }), [], pod("c"))).toBe("3")
    expect(remaining(claim("c", 3, { annotations: ofPod }), [], pod("c"))).toBe("3")
  })

  test("in full if an earlier claim belongs to a pod that names none", () => {
    const at = (creationTimestamp: string): KubeObject["metadata"] => owned("1", { creationTimestamp })
    const [first, second] = [at("2024-01-01T00:00:00Z"), at("2024-01-01T00:00:01Z")]
    expect(remaining(claim("a", 3, second), [claim("b", 3, first)], pod())).toBe("3")
    expect(remaining(claim("a", 3, first), [claim("b", 3, second)], pod())).toBe("1")
    expect(remaining(claim("b", 3, first), [claim("a", 3, first)], pod())).toBe("3")
  })
})
