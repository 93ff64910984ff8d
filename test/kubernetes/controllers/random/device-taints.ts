// Devices that drivers taint, and pods whose claims tolerate this for ever, for a time or not at all.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { driver, resourceClaim, resourceSlice } from "../scenarios/device-steps.ts"
import { container } from "../scenarios/steps.ts"
import { type Family, held, maybe, oneByOne, refusable, reported, some } from "./family.ts"

const slices = ["NAMESPACE", "NAMESPACE", "NAMESPACE-b"]
const pods = ["p0", "p1", "p2"]
const claims = ["c0", "c1"]
const devices = ["gpu", "other"]
const keys = ["example.com/broken", "example.com/slow"]

export const deviceTaints: Family = (random) => {
  const status = (fields: object): Step => ({
    patch: ["resourceclaims", pick(random, claims)],
    with: { status: fields },
    subresource: "status",
  })
  const steps: (() => Step)[] = [
    () => ({ patch: ["resourceslices", pick(random, slices)], with: { spec: { devices: tainted(random) } } }),
    () => ({ patch: ["resourceslices", pick(random, slices)], with: { spec: { devices: tainted(random) } } }),
    () => ({ patch: ["resourceslices", pick(random, slices)], with: { spec: { devices: tainted(random) } } }),
    () => slice(random, pick(random, slices)),
    () => ({ delete: ["resourceslices", pick(random, slices)] }),
    () => status(allocated(random)),
    () => status(allocated(random)),
    () => status({ reservedFor: users(random) }),
    () => status({ allocation: null, reservedFor: null }),
    () => resourceClaim(pick(random, claims)),
    () => pod(random),
    () => pod(random),
    () => ({ bind: [pick(random, pods), "n1"] }),
    () => reported(random, ["ready", "succeeded", { exit: 1 }]),
    () => ({ delete: ["pods", pick(random, pods)] }),
    () => ({
      patch: ["pods", pick(random, pods)],
      with: { metadata: { finalizers: pick(random, [null, held.finalizers]) } },
    }),
    () => ({ delete: ["resourceclaims", pick(random, claims)] }),
  ]
  const begin = [
    slice(random, "NAMESPACE"),
    ...claims.map((name) => resourceClaim(name)),
    ...pods.slice(random(3)).map((name) => pod(random, name)),
    ...claims.map((name): Step => ({
      patch: ["resourceclaims", name],
      with: { status: allocated(random) },
      subresource: "status",
    })),
  ]
  return {
    nodes: chance(random, 0.3) ? "ready" : "bound",
    steps: oneByOne([...begin, ...some(random, 5, 10, () => pick(random, steps)())].map(refusable)),
  }
}

const tainted = (random: Random): object[] =>
  devices.map((name) => ({
    name,
    taints: keys
      .filter(() => chance(random, 0.5))
      .map((key) => ({
        key,
        effect: pick(random, ["NoExecute", "NoExecute", "NoSchedule", "None"]),
        ...maybe(random, 0.5, { value: pick(random, ["yes", "no"]) }),
      })),
  }))

/** Of older or newer words of its pool. */
const slice = (random: Random, name: string): Step =>
  resourceSlice(name, name === "NAMESPACE" ? 1 : random(3), tainted(random))

const tolerations = (random: Random): object[] =>
  some(random, 0, 2, () => {
    const value = pick<object>(random, [{ operator: "Exists" }, { operator: "Equal", value: "yes" }])
    const key = pick(random, [...keys, undefined])
    return {
      ...(key === undefined ? { operator: "Exists" } : { key, ...value }),
      ...maybe(random, 0.8, {
        effect: "NoExecute",
        ...maybe(random, 0.6, { tolerationSeconds: pick(random, [0, 1, 3600]) }),
      }),
    }
  })

const users = (random: Random): object[] =>
  pods.filter(() => chance(random, 0.5)).map((name) => ({ resource: "pods", name, uid: `UID:pods/${name}` }))

function allocated(random: Random): object {
  const device = pick(random, devices)
  const results = [{ request: "gpu", driver, pool: "NAMESPACE", device, tolerations: tolerations(random) }]
  return { allocation: { devices: { results } }, reservedFor: users(random) }
}

const pod = (random: Random, name = pick(random, pods)): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...maybe(random, 0.2, held) },
    spec: {
      containers: [container("one")],
      resourceClaims: claims.filter(() => chance(random, 0.7)).map((each) => ({ name: each, resourceClaimName: each })),
      ...maybe(random, 0.3, { restartPolicy: "Never" }),
    },
  },
})
