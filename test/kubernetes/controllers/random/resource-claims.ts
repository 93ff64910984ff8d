// ResourceClaims that users make, or that are made of templates for pods; a scheduler allocates and reserves them, or nobody does. Those
// that are made for pods are not deleted: what upstream does then is in docs/controllers.md.

import { pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { container } from "../scenarios/steps.ts"
import { type Family, held, maybe, oneByOne, refusable, reported, some } from "./family.ts"

const pods = ["p0", "p1", "p2"]
const claims = ["c0", "c1"]
const templates = ["t0", "t1"]
const finalizer = "resource.kubernetes.io/delete-protection"

export const resourceClaims: Family = (random) => {
  const ofClaim = (fields: object): Step => ({ patch: ["resourceclaims", pick(random, claims)], with: fields })
  const statusOfClaim = (fields: object): Step => ({ ...ofClaim({ status: fields }), subresource: "status" }) as Step
  const steps: (() => Step)[] = [
    () => pod(random),
    () => pod(random),
    () => claim(random),
    () => template(random),
    () => statusOfClaim(allocated(random)),
    () => statusOfClaim({ reservedFor: reserved(random) }),
    () => statusOfClaim({ allocation: null, reservedFor: null }),
    () => ofClaim({ metadata: { finalizers: pick(random, [null, [finalizer], [finalizer, ...held.finalizers]]) } }),
    () => ({ patchAll: "resourceclaims", with: { metadata: pick<object>(random, ofAll) } }),
    () => ({ bind: [pick(random, pods), "n1"] }),
    () => reported(random, ["ready", "succeeded", { exit: 1 }]),
    () => ({ deletePods: {}, count: 1 }),
    () => ({ delete: ["pods", pick(random, pods)] }),
    () => ({
      patch: ["pods", pick(random, pods)],
      with: { metadata: { finalizers: pick(random, [null, ["example.com/hold"]]) } },
    }),
    () => ({
      patch: ["pods", pick(random, pods)],
      with: { status: { resourceClaimStatuses: null } },
      subresource: "status",
    }),
    () => ({ delete: ["resourceclaims", pick(random, claims)] }),
    () => ({ delete: ["resourceclaimtemplates", pick(random, templates)] }),
  ]
  const begin = [template(random), claim(random), pod(random)]
  return { steps: oneByOne([...begin, ...some(random, 5, 11, () => pick(random, steps)())].map(refusable)) }
}

const devices = { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com" } }] }
const ofAll = [
  { annotations: { "resource.kubernetes.io/pod-claim-name": null } },
  { ownerReferences: null },
  { labels: { a: "b" } },
]

const template = (random: Random): Step => ({
  create: {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaimTemplate",
    metadata: { name: pick(random, templates) },
    spec: {
      ...maybe(random, 0.5, { metadata: { labels: { of: "template" }, annotations: { note: "x" } } }),
      spec: { devices },
    },
  },
})

const claim = (random: Random): Step => ({
  create: {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name: pick(random, claims), ...maybe(random, 0.7, { finalizers: [finalizer] }) },
    spec: { devices },
  },
})

const results = [{ request: "gpu", driver: "example.com", pool: "p", device: "d" }]
const allocated = (random: Random): object => ({
  allocation: { devices: { results } },
  ...maybe(random, 0.5, { reservedFor: reserved(random) }),
})

function reserved(random: Random): object[] {
  const all = [
    ...pods.map((name) => ({ resource: "pods", name, uid: `UID:pods/${name}` })),
    { resource: "pods", name: "nobody", uid: "11111111-1111-4111-8111-111111111111" },
    { resource: "pods", name: "p0", uid: "11111111-1111-4111-8111-111111111112" },
    { apiGroup: "example.com", resource: "others", name: "o", uid: "11111111-1111-4111-8111-111111111113" },
  ]
  return all.filter(() => random(3) === 0)
}

function pod(random: Random): Step {
  const entry = (name: string): object =>
    pick<object>(random, [
      { name, resourceClaimName: pick(random, [...claims, "later"]) },
      { name, resourceClaimTemplateName: pick(random, templates) },
      { name, resourceClaimTemplateName: pick(random, templates) },
    ])
  return {
    create: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: pick(random, pods), ...maybe(random, 0.2, held) },
      spec: {
        containers: [container("one")],
        resourceClaims: ["gpu", "other"].slice(random(2)).map(entry),
        ...maybe(random, 0.4, { nodeName: "n1" }),
        ...maybe(random, 0.3, { restartPolicy: "Never" }),
      },
    },
  }
}
