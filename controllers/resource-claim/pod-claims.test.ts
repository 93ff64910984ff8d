import { expect, test } from "vitest"
import type { Pod, ResourceClaim } from "../../apimachinery/object.ts"
import { needsWork } from "./pod-claims.ts"

const pod = (resourceClaims: object[], resourceClaimStatuses: object[] = [], nodeName = ""): Pod =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default", uid: "u" },
    spec: { nodeName, resourceClaims },
    status: { resourceClaimStatuses },
  }) as unknown as Pod

const claim = (owner: string | undefined, status: object = {}): ResourceClaim =>
  ({
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: {
      name: "c",
      namespace: "default",
      ownerReferences: owner === undefined ? [] : [{ kind: "Pod", name: "web", uid: owner, controller: true }],
    },
    status,
  }) as unknown as ResourceClaim

const finished = (of: Pod): Pod => ({ ...of, status: { ...of.status, phase: "Succeeded" } })
const held = (status: object): ResourceClaim => {
  const { metadata, ...rest } = claim(undefined, status)
  return { ...rest, metadata: { ...metadata, finalizers: ["resource.kubernetes.io/delete-protection"] } }
}

const own = { name: "gpu", resourceClaimName: "c" }
const made = { name: "gpu", resourceClaimTemplateName: "t" }
const named = [{ name: "gpu", resourceClaimName: "c" }]
const allocation = { devices: {} }
const others = (count: number): object[] => Array.from({ length: count }, (_, n) => ({ uid: `other-${n}` }))

test.each<[what: string, pod: Pod, claim: ResourceClaim | undefined, wanted: boolean]>([
  ["a claim that is not made", pod([made]), undefined, true],
  ["a claim that was made and is gone", pod([made], named), undefined, true],
  ["a claim of a user that is not there", pod([own]), undefined, false],
  ["a claim that is not needed", pod([made], [{ name: "gpu" }]), undefined, false],
  ["its own claim", pod([made], named), claim("u"), false],
  ["a claim that was taken from it", pod([made], named), claim(undefined), false],
  ["a claim that was given to another pod", pod([made], named, "n"), claim("v", { allocation }), false],
  ["an allocated claim, without a node", pod([own]), claim(undefined, { allocation }), false],
  ["an allocated claim", pod([own], [], "n"), claim(undefined, { allocation }), true],
  ["a claim that is not allocated", pod([own], [], "n"), claim(undefined), false],
  ["a reserved claim", pod([own], [], "n"), claim(undefined, { allocation, reservedFor: [{ uid: "u" }] }), false],
  ["a claim of many", pod([own], [], "n"), claim(undefined, { allocation, reservedFor: others(255) }), true],
  ["a claim of too many", pod([own], [], "n"), claim(undefined, { allocation, reservedFor: others(256) }), false],
  ["a claim that is not made, and has finished", finished(pod([made])), undefined, true],
  ["a claim that was made and is gone, and has finished", finished(pod([made], named)), undefined, false],
  ["an allocated claim, and has finished", finished(pod([own], [], "n")), held({ allocation }), true],
  ["an allocated claim that nothing holds", finished(pod([own], [], "n")), claim(undefined, { allocation }), false],
  ["a claim of another", finished(pod([own], [], "n")), held({ allocation, reservedFor: others(1) }), false],
])("whether there is something to do for a pod with %s", (_, of, found, wanted) => {
  expect(needsWork(of, (name) => (name === "c" ? found : undefined))).toBe(wanted)
})
