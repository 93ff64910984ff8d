// Endpoints that are written by hand, one change right after the other, and the EndpointSlices that mirror them.

import { managedByLabel, serviceNameLabel } from "../../../../apimachinery/core/endpoint-slices.ts"
import { pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { endpoints, patched, service, withoutSelector } from "../scenarios/service-steps.ts"
import { labels, settle } from "../scenarios/steps.ts"
import { type Family, held, inBursts, maybe, refusable, some } from "./family.ts"

export const mirroredEndpoints: Family = (random) => {
  const written = (): Step => endpoints(randomSubsets(random), randomMetadata(random))
  const begin = pick(random, [
    [service(withoutSelector), written()],
    [written(), service(withoutSelector)],
  ])
  const steps: (() => Step)[] = [
    written,
    written,
    () => ({ delete: ["endpoints", "web"] }),
    () => ({ delete: ["endpoints", "web"], policy: pick(random, ["Foreground", "Orphan"]) }),
    () => ({ patch: ["endpoints", "web"], with: { subsets: randomSubsets(random) } }),
    () => ({ patch: ["endpoints", "web"], with: { subsets: randomSubsets(random) } }),
    () => ({ patch: ["endpoints", "web"], with: { metadata: randomMetadata(random) } }),
    () => ({ patch: ["endpoints", "web"], with: { metadata: { finalizers: pick(random, [null, held.finalizers]) } } }),
    () => service(withoutSelector),
    () => ({ delete: ["services", "web"] }),
    () => patched({ selector: pick(random, [null, labels]) }),
    () => ({ deleteAll: "endpointslices" }),
    () => ({ patchAll: "endpointslices", with: pick(random, ofSlices) }),
  ]
  const all = [...begin, ...some(random, 6, 14, () => pick(random, steps)())].map(refusable)
  return { steps: inBursts(random, all).flatMap(alone) }
}

/** Which slices there are, when a garbage collector is done, and whether Endpoints are made again, would be a matter of moments. */
function alone(step: Step): Step[] {
  if ("deleteAll" in step || "patchAll" in step) return [settle, step]
  // While it has a selector, its Endpoints are written by a controller.
  if ("patch" in step && step.patch[0] === "services") return [settle, step, settle]
  return "delete" in step ? [step, settle] : [step]
}

const ports = [
  { name: "sql", port: 5432 },
  { name: "web", port: 80, protocol: "TCP", appProtocol: "http" },
  { name: "dns", port: 53, protocol: "UDP" },
]
const addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "2001:DB8::2"]

function randomSubsets(random: Random): object[] {
  return some(random, 0, 3, () => {
    const chosen = addresses.filter(() => random(3) === 0).map((ip) => ({ ip, ...maybe(random, 0.3, extra(random)) }))
    const split = random(chosen.length + 1)
    return {
      addresses: chosen.slice(split),
      notReadyAddresses: [...chosen.slice(0, split), ...(chosen.length === 0 ? [{ ip: "192.0.2.9" }] : [])],
      ports: pick<object[] | null>(random, [null, [{ port: 1 }], ports.slice(random(3)), ports.slice(0, 1)]),
    }
  })
}

const extra = (random: Random): object =>
  pick<object>(random, [
    { hostname: "one" },
    { nodeName: "n1" },
    { targetRef: { kind: "Pod", name: "p", namespace: "NAMESPACE", uid: "u" } },
  ])

const randomMetadata = (random: Random): object => ({
  ...maybe(random, 0.4, {
    labels: pick(random, [{ team: "a" }, { tier: "c" }, skipMirror, { team: "b", ...skipMirror }]),
  }),
  ...maybe(random, 0.3, { annotations: pick(random, [{ note: "x" }, leader, { "a/b": "c" }]) }),
})
const skipMirror = { "endpointslice.kubernetes.io/skip-mirror": "true" }
const leader = { "control-plane.alpha.kubernetes.io/leader": "{}" }

/** What somebody writes into the slices of a controller, which waits for those that are given to others. */
const ofSlices = [
  { metadata: { labels: { [managedByLabel]: "other.example.com" } } },
  { metadata: { labels: { [managedByLabel]: "endpointslicemirroring-controller.k8s.io" } } },
  { metadata: { labels: { [serviceNameLabel]: "another" } } },
  { metadata: { labels: { [serviceNameLabel]: "web" } } },
  { endpoints: [] },
  { endpoints: [{ addresses: ["192.0.2.5"] }] },
  { ports: [{ name: "sql", port: 1 }] },
  { metadata: { labels: { team: "z" }, annotations: { note: "z" } } },
  { metadata: held },
  { metadata: { finalizers: null } },
]
