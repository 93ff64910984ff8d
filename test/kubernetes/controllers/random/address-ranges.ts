// ServiceCIDRs that contain each other or not, and IPAddresses in them, which users make, change and delete. Services have no addresses of
// them: those of a tenant are of the super cluster. An address of a Service that is not there is taken away after a minute, later than a
// scenario ends.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { settle } from "../scenarios/steps.ts"
import { type Family, held, maybe, refusable } from "./family.ts"

const names = ["NAMESPACE-a", "NAMESPACE-b", "NAMESPACE-c"]
const ranges = [
  ["RANGE4.0/24"],
  ["RANGE4.0/25"],
  ["RANGE4.128/25"],
  ["RANGE4.0/28"],
  ["RANGE4.16/28"],
  ["RANGE6::/112"],
  ["RANGE4.0/24", "RANGE6::/112"],
  ["RANGE6::/120", "RANGE4.0/28"],
]
/** Of which some are at the edge of a range. */
const addresses = ["RANGE4.1", "RANGE4.15", "RANGE4.16", "RANGE4.127", "RANGE4.200", "RANGE6::7"]
const managedBy = "ipaddress.kubernetes.io/managed-by"
const family = "ipaddress.kubernetes.io/ip-family"
const finalizer = "networking.k8s.io/service-cidr-finalizer"
/** Upstream waits 10 s before a range goes, and 5 s before an address of another Service does. */
const gone = [settle, settle, settle, settle]
/** So many steps do not take a minute. */
const most = 24
const at = "2026-01-01T00:00:00Z"

export const addressRanges: Family = (random) => {
  const patched = (fields: object): Step => ({ patch: ["servicecidrs", pick(random, names)], with: fields })
  const turns: (() => Step[])[] = [
    () => [range(random)],
    () => [range(random)],
    () => [address(random)],
    () => [address(random)],
    () => [{ delete: ["servicecidrs", pick(random, names)] }, ...gone],
    () => [{ delete: ["servicecidrs", pick(random, names)] }, ...gone],
    () => [{ delete: ["ipaddresses", pick(random, addresses)] }],
    () => [
      { patch: ["ipaddresses", pick(random, addresses)], with: { metadata: { labels: pick(random, ofAddresses) } } },
    ],
    () => [patched({ metadata: { labels: { a: "b" } } })],
    () => [patched({ metadata: { finalizers: pick(random, [null, held.finalizers, [finalizer]]) } }), ...gone],
    () => [patched({ spec: { cidrs: pick(random, ranges) } })],
    () => [{ ...patched({ status: { conditions: pick(random, ofStatus) } }), subresource: "status" } as Step],
  ]
  const steps = [headless, range(random), address(random)].flatMap(apart)
  while (steps.length < most) steps.push(...pick(random, turns)().flatMap(apart))
  return { steps: [...steps, settle] }
}

const apart = (step: Step): Step[] => ("settle" in step ? [step] : [refusable(step), settle])

const headless: Step = {
  create: {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web" },
    spec: { clusterIP: "None", ports: [{ port: 80 }] },
  },
}

const range = (random: Random): Step => ({
  create: {
    apiVersion: "networking.k8s.io/v1",
    kind: "ServiceCIDR",
    metadata: { name: pick(random, names), ...maybe(random, 0.2, held) },
    spec: { cidrs: pick(random, ranges) },
  },
})

function address(random: Random): Step {
  const name = pick(random, addresses)
  const labels = {
    ...maybe(random, 0.9, { [managedBy]: chance(random, 0.9) ? "ipallocator.k8s.io" : "somebody" }),
    ...maybe(random, 0.9, { [family]: name.includes(":") || chance(random, 0.1) ? "IPv6" : "IPv4" }),
  }
  const parentRef = pick(random, [
    { resource: "services", namespace: "NAMESPACE", name: "later" },
    { resource: "services", namespace: "NAMESPACE", name: "later" },
    { resource: "services", namespace: "NAMESPACE", name: "web" },
    { resource: "configmaps", namespace: "NAMESPACE", name: "web" },
  ])
  return {
    create: {
      apiVersion: "networking.k8s.io/v1",
      kind: "IPAddress",
      metadata: { name, labels, ...maybe(random, 0.15, held) },
      spec: { parentRef },
    },
  }
}

const ofAddresses = [{ [managedBy]: null }, { [family]: null }, { [managedBy]: "ipallocator.k8s.io" }, { a: "b" }]

const ofStatus = [
  null,
  [{ type: "Ready", status: "False", reason: "No", message: "not so", lastTransitionTime: at }],
  [{ type: "Ready", status: "True", reason: "", message: "Kubernetes Service CIDR is ready", lastTransitionTime: at }],
  [{ type: "Mine", status: "True", reason: "Yes", message: "so", lastTransitionTime: at }],
]
