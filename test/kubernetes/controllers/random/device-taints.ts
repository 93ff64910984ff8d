// Devices that drivers taint, and pods whose claims tolerate this for ever, for a time or not at all. Where pods end, each claim is for one
// of them, and is protected when it is allocated: if it stayed allocated, upstream would reserve it for the pod that has ended, and release
// it, without end.

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
  const taint = (): Step => ({
    patch: ["resourceslices", pick(random, slices)],
    with: { spec: { devices: tainted(random) } },
  })
  const end = chance(random, 0.4)
  const { pod, allocated, reserved } = end ? ofOnePod(random) : ofAnyPod(random)
  const steps: (() => Step | Step[])[] = [
    taint,
    taint,
    taint,
    () => slice(random, pick(random, slices)),
    () => ({ delete: ["resourceslices", pick(random, slices)] }),
    () => allocated(pick(random, claims)),
    () => allocated(pick(random, claims)),
    () => reserved(pick(random, claims)),
    () => status(pick(random, claims), { allocation: null, reservedFor: null }),
    () => resourceClaim(pick(random, claims)),
    () => pod(pick(random, pods)),
    () => pod(pick(random, pods)),
    () => ({ bind: [pick(random, pods), "n1"] }),
    () => reported(random, end ? ["ready", "succeeded", { exit: 1 }] : ["ready"]),
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
    ...pods.slice(random(3)).map((name) => pod(name)),
    ...claims.flatMap((name) => allocated(name)),
  ]
  return {
    nodes: chance(random, 0.3) ? "ready" : "bound",
    steps: oneByOne([...begin, ...some(random, 5, 10, () => pick(random, steps)()).flat()].map(refusable)),
  }
}

interface Users {
  pod: (name: string) => Step
  allocated: (claim: string) => Step[]
  reserved: (claim: string) => Step
}

function ofAnyPod(random: Random): Users {
  const users = (): object[] => pods.filter(() => chance(random, 0.5)).map(reference)
  return {
    pod(name) {
      const its = claims.filter(() => chance(random, 0.7))
      return randomPod(random, name, its)
    },
    allocated: (claim) => [status(claim, { ...allocation(random), reservedFor: users() })],
    reserved: (claim) => status(claim, { reservedFor: users() }),
  }
}

function ofOnePod(random: Random): Users {
  const users = (claim: string): object[] => (chance(random, 0.7) ? [reference(podOf(claim))] : [])
  return {
    pod(name) {
      const its = claims.filter((claim) => podOf(claim) === name)
      return randomPod(random, name, its)
    },
    allocated: (claim) => [protect(claim), status(claim, { ...allocation(random), reservedFor: users(claim) })],
    reserved: (claim) => status(claim, { reservedFor: users(claim) }),
  }
}

const podOf = (claim: string): string => claim.replace("c", "p")

const reference = (name: string): object => ({ resource: "pods", name, uid: `UID:pods/${name}` })

const status = (claim: string, fields: object): Step => ({
  patch: ["resourceclaims", claim],
  with: { status: fields },
  subresource: "status",
})

/** A claim that was released has no finalizer any more. */
const protect = (claim: string): Step => ({
  patch: ["resourceclaims", claim],
  with: { metadata: { finalizers: ["resource.kubernetes.io/delete-protection"] } },
})

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

function allocation(random: Random): object {
  const device = pick(random, devices)
  const results = [{ request: "gpu", driver, pool: "NAMESPACE", device, tolerations: tolerations(random) }]
  return { allocation: { devices: { results } } }
}

const randomPod = (random: Random, name: string, its: readonly string[]): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...maybe(random, 0.2, held) },
    spec: {
      containers: [container("one")],
      resourceClaims: its.map((each) => ({ name: each, resourceClaimName: each })),
      ...maybe(random, 0.3, { restartPolicy: "Never" }),
    },
  },
})
