// Services: their Endpoints and EndpointSlices, those of controllers and those written by hand.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Family as IPFamily, Step } from "../scenario.ts"
import { endpoints, patched, pod, service, slice, subset } from "../scenarios/service-steps.ts"
import { type Family, held, instead, maybe, oneByOne, some } from "./family.ts"

export const services: Family = (random) => {
  const names: string[] = []
  const newPod = (): Step => {
    names.push(`p${names.length}`)
    return randomPod(random, names.at(-1) ?? "")
  }
  const begin = [{ ...randomService(random), mayBeRefused: true as const }, ...some(random, 1, 4, newPod)]
  if (chance(random, 0.3)) begin.reverse()
  return {
    nodes: "bound",
    steps: oneByOne([
      ...begin,
      ...addressed(random, names),
      { pods: "ready" },
      ...some(random, 4, 9, () => change(random, names, newPod)),
    ]),
  }
}

/** Of pods; a Service has some of its families. */
const addressed = (random: Random, names: readonly string[]): Step[] =>
  names
    .filter(() => chance(random, 0.3))
    .map((name) => ({ pods: { families: pick(random, families) }, labels: { pod: name } }))
const families: readonly (readonly IPFamily[])[] = [["IPv4", "IPv6"], ["IPv6", "IPv4"], ["IPv6"]]

const selectors = [
  { app: "web" },
  { app: "web" },
  { app: "web", tier: "a" },
  { tier: "a" },
  { app: "other" },
  { app: "nobody" },
]
const selectorKeys = ["app", "tier"]
const ports = [
  { name: "http", port: 80, targetPort: 8080 },
  { name: "web", port: 81, targetPort: "web" },
  { name: "dns", port: 53, protocol: "UDP", targetPort: "dns" },
  { name: "dns-tcp", port: 53, protocol: "TCP", targetPort: "dns" },
  { name: "none", port: 82, targetPort: "nobody" },
  { name: "same", port: 83 },
  { name: "app", port: 84, targetPort: 8080, appProtocol: "kubernetes.io/h2c" },
]
const distributions = [null, "PreferClose", "PreferSameZone", "PreferSameNode"]

function randomPorts(random: Random): object[] {
  if (chance(random, 0.1)) return [{ port: 80, targetPort: pick(random, [8080, "web"]) }]
  const chosen = ports.filter(() => chance(random, 0.35))
  return chosen.length === 0 ? [pick(random, ports)] : chosen
}

/** Without addresses, the later may be without ports too. */
function randomService(random: Random): Step {
  const isHeadless = chance(random, 0.35)
  const type = isHeadless ? {} : maybe(random, 0.3, pick(random, types))
  return service({
    ...maybe(random, 0.85, { selector: pick(random, selectors) }),
    ports: isHeadless && chance(random, 0.2) ? null : randomPorts(random),
    ...(isHeadless ? { clusterIP: "None" } : {}),
    ...maybe(random, 0.25, { publishNotReadyAddresses: true }),
    ...maybe(random, 0.25, { trafficDistribution: pick(random, distributions) }),
    ...(chance(random, 0.1) ? external : { ...maybe(random, 0.4, randomFamilies(random)), ...type }),
  })
}

/** Which of them the cluster has is another matter. */
const randomFamilies = (random: Random): object => ({
  ipFamilyPolicy: pick(random, ["SingleStack", "PreferDualStack", "PreferDualStack", "RequireDualStack"]),
  ...maybe(random, 0.5, { ipFamilies: pick(random, [["IPv4"], ["IPv6"], ...families]) }),
})

const external = { type: "ExternalName", externalName: "example.com", clusterIP: null }
const types: readonly object[] = [
  { type: "NodePort" },
  { type: "NodePort", externalTrafficPolicy: "Local" },
  { type: "LoadBalancer" },
  { type: "LoadBalancer", externalTrafficPolicy: "Local" },
  { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, loadBalancerClass: "example.com/of" },
]

function randomPod(random: Random, name: string): Step {
  const containerPorts = [
    ...(chance(random, 0.7) ? [{ name: "web", containerPort: pick(random, [8000, 8000, 9000]) }] : []),
    ...(chance(random, 0.4) ? [{ name: "dns", containerPort: 5353, protocol: "UDP" }] : []),
    ...(chance(random, 0.3) ? [{ name: "dns", containerPort: 5354, protocol: "TCP" }] : []),
  ].filter((port, index, all) => all.findIndex((other) => other.name === port.name) === index)
  const containers = [{ name: "c", image: "one", ports: containerPorts }]
  const sidecars = [{ name: "s", image: "one", restartPolicy: "Always", ports: [{ name: "web", containerPort: 7000 }] }]
  return pod(
    name,
    {
      containers,
      ...maybe(random, 0.15, { initContainers: sidecars }),
      ...maybe(random, 0.4, { nodeName: pick(random, ["n1", "n2"]) }),
      ...maybe(random, 0.3, { hostname: `h-${name}`, subdomain: pick(random, ["web", "other"]) }),
      ...maybe(random, 0.2, { restartPolicy: "Never" }),
      ...maybe(random, 0.1, { hostNetwork: true, containers: [{ name: "c", image: "one" }] }),
    },
    { labels: { ...labelsOf(random), pod: name }, ...maybe(random, 0.15, held) },
  )
}

const labelsOf = (random: Random): object => pick(random, [{ app: "web" }, { app: "web", tier: "a" }, { app: "other" }])

const fields: readonly ((random: Random) => object)[] = [
  (random) => ({ selector: chance(random, 0.15) ? null : instead(selectorKeys, pick(random, selectors)) }),
  (random) => ({ ports: randomPorts(random) }),
  (random) => ({ ports: randomPorts(random) }),
  (random) => ({ publishNotReadyAddresses: chance(random, 0.5) }),
  (random) => ({ trafficDistribution: pick(random, distributions) }),
  (random) => ({ sessionAffinity: pick(random, ["None", "ClientIP"]) }),
  (random) => ({ internalTrafficPolicy: pick(random, ["Local", "Cluster"]) }),
  () => ({ type: "ExternalName", externalName: "example.com", clusterIP: null, clusterIPs: null }),
  () => ({ type: "ClusterIP", externalName: null }),
  (random) => pick(random, types),
  (random) => randomFamilies(random),
  () => ({ ipFamilyPolicy: "SingleStack" }),
  () => ({ ipFamilyPolicy: "PreferDualStack" }),
]

function metadataOf(random: Random): object {
  return pick(random, [
    { labels: { team: pick(random, ["b", null]), more: "x" } },
    { labels: { "service.kubernetes.io/headless": pick(random, ["", null]) } },
    { labels: { "endpointslice.kubernetes.io/skip-mirror": pick(random, ["true", null]) } },
    { annotations: { note: pick(random, ["x", "y"]) } },
    { annotations: { "service.kubernetes.io/topology-mode": pick(random, ["Auto", null]) } },
    { annotations: { "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z" } },
  ])
}

function change(random: Random, names: readonly string[], newPod: () => Step): Step {
  const one = { pod: pick(random, names) }
  const anyOf = chance(random, 0.7) ? { labels: one } : {}
  const make = pick<() => Step>(random, [
    newPod,
    () => ({ pods: "ready", ...anyOf }),
    () => ({ pods: "ready" }),
    () => ({ pods: "unready", ...anyOf }),
    () => ({ pods: pick(random, ["succeeded", { exit: 1 }]), labels: one }),
    () => ({ patch: ["pods", one.pod], with: { metadata: { labels: instead(selectorKeys, labelsOf(random)) } } }),
    () => ({ patch: ["pods", one.pod], with: { metadata: { finalizers: null } } }),
    () => ({ deletePods: one }),
    () => ({ delete: ["pods", one.pod] }),
    () => patched(pick(random, fields)(random)),
    () => patched(pick(random, fields)(random)),
    () => patched(pick(random, fields)(random)),
    () => patched({}, metadataOf(random)),
    () => ({ delete: ["services", "web"] }),
    () => randomService(random),
    () => byHand(random),
    () => byHand(random),
    () => ({ patchAll: pick(random, ["endpointslices", "endpoints"]), with: { metadata: metadataOf(random) } }),
    () => ({ patchAll: "endpointslices", with: pick(random, ofSlices) }),
    () => ({ delete: ["services", "web"], policy: pick(random, ["Foreground", "Orphan"]) }),
    () => patched({}, { finalizers: pick(random, [null, held.finalizers]) }),
  ])
  return { ...make(), mayBeRefused: true }
}

const managed = { "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" }

/** What somebody writes into the slices of a controller, which waits for those that are given to others. */
const ofSlices = [
  { metadata: { labels: { "endpointslice.kubernetes.io/managed-by": "other.example.com" } } },
  { metadata: { labels: managed } },
  { endpoints: [] },
  { endpoints: [{ addresses: ["192.0.2.5"], hints: { forZones: [{ name: "z9" }] } }] },
  { ports: [{ name: "http", port: 1 }] },
  { ports: null },
  { metadata: { ownerReferences: null } },
  { metadata: held },
  { metadata: { finalizers: null } },
]

function randomSubsets(random: Random): object[] {
  return some(random, 0, 3, () => {
    const ip = `192.0.2.${1 + random(4)}`
    const ready = chance(random, 0.8) ? { addresses: [{ ip, ...maybe(random, 0.3, { nodeName: "n1" }) }] } : {}
    return subset(ip, {
      addresses: null,
      ...ready,
      ...maybe(random, 0.3, { notReadyAddresses: [{ ip: pick(random, ["192.0.2.9", "2001:db8::1"]) }] }),
      ports: pick(random, [
        [{ name: "http", port: 5432 }],
        [{ port: 1 }],
        [{ name: "udp", port: 2, protocol: "UDP" }],
        null,
      ]),
    })
  })
}

function byHand(random: Random): Step {
  return pick<() => Step>(random, [
    () => endpoints(randomSubsets(random), maybe(random, 0.3, metadataOf(random))),
    () => ({ patch: ["endpoints", "web"], with: { subsets: randomSubsets(random) } }),
    () => ({ patch: ["endpoints", "web"], with: { metadata: metadataOf(random) } }),
    () => ({ deleteAll: "endpoints" }),
    () => ({ deleteAll: "endpointslices" }),
    () => slice("mine"),
    () => slice("mine", { addressType: "IPv6", endpoints: [{ addresses: ["2001:db8::7"] }] }),
    () => slice("mine", {}, { labels: { "kubernetes.io/service-name": "web", ...managed } }),
    () => ({ patch: ["endpointslices", "mine"], with: { endpoints: [{ addresses: ["192.0.2.8"] }] } }),
    () => ({ delete: ["endpointslices", "mine"] }),
  ])()
}
