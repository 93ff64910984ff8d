// Addresses and networks in every form that a text may have, in every field that holds one.

import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, patch, post, put, remove, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"

type Body = Record<string, Json>

const core = "/api/v1/namespaces/@{ns}"
const pod = { containers: [{ name: "main", image: "busybox" }] }

const addresses: Readonly<Record<string, string>> = {
  plain: "10.9.8.7",
  "leading zeros": "10.9.8.007",
  "leading zeros everywhere": "010.009.008.007",
  "IPv6 at length": "2001:0DB8:0:0:0:0:0:1",
  "IPv6 in short": "2001:db8::1",
  "mapped IPv4": "::ffff:10.9.8.7",
  "mapped, with zeros": "::ffff:10.9.8.07",
  "long groups": "2001:00db8::1",
  "a zone": "fe80::1%eth0",
  loopback: "127.0.0.2",
  "IPv6 loopback": "::1",
  unspecified: "::",
  "link-local": "169.254.1.1",
  "IPv6 link-local": "fe80::1",
  multicast: "224.0.0.5",
  "too large": "10.9.8.256",
  "too short": "10.9.8",
  "a network": "10.9.8.7/32",
  "a name": "example.com",
  space: " 10.9.8.7",
  nothing: "",
}

const networks: Readonly<Record<string, string>> = {
  plain: "10.9.8.0/24",
  "host bits": "10.9.8.7/24",
  "leading zeros": "10.9.08.0/24",
  "a length with zeros": "10.9.8.0/024",
  "too long": "10.9.8.0/33",
  "no length": "10.9.8.0",
  "two lengths": "10.9.8.0/24/24",
  everything: "0.0.0.0/0",
  "IPv6 at length": "2001:0db8:0:0::/64",
  "IPv6 in short": "2001:db8::/64",
  "IPv6 with host bits": "2001:db8::1/64",
  "mapped IPv4": "::ffff:10.9.8.0/120",
  "mapped, cut": "::ffff:10.9.8.0/64",
  "a name": "example.com/24",
  space: " 10.9.8.0/24 ",
  nothing: "",
}

export function addressCases(): Scenario[] {
  return [
    { name: "addresses of hosts and name servers", steps: ofPods() },
    { name: "addresses that kubelets tell", steps: ofStatuses() },
    { name: "addresses of services", steps: ofServices() },
    { name: "addresses of endpoints", steps: ofEndpoints() },
    { name: "addresses as names", steps: ofNames() },
    { name: "networks of policies", steps: ofPolicies() },
    { name: "networks of nodes and services", steps: ofRanges() },
    { name: "ranges of services change", steps: changedRanges() },
    { name: "wrong addresses that were there before", steps: kept() },
  ]
}

const every = (texts: Readonly<Record<string, string>>, step: (text: string, label: string) => RequestStep[]) =>
  Object.entries(texts).flatMap(([label, text]) => step(text, label))

function ofPods(): RequestStep[] {
  const make = (spec: Body): Body => ({ metadata: { name: "a" }, spec: { ...pod, ...spec } })
  return every(addresses, (ip, label) => [
    post(`${core}/pods?dryRun=All`, make({ hostAliases: [{ ip, hostnames: ["a"] }] }), { label: `alias, ${label}` }),
    post(`${core}/pods?dryRun=All`, make({ dnsConfig: { nameservers: [ip] } }), { label: `name server, ${label}` }),
  ])
}

function ofStatuses(): RequestStep[] {
  const status = (label: string, body: Body): RequestStep =>
    patch(`${core}/pods/told/status?dryRun=All`, strategicPatch, { status: body }, { label })
  return [
    post(`${core}/pods`, { metadata: { name: "told" }, spec: pod }),
    ...every(addresses, (ip, label) => [
      status(`of a pod, ${label}`, { podIP: ip, podIPs: [{ ip }] }),
      status(`of a host, ${label}`, { hostIP: ip, hostIPs: [{ ip }] }),
    ]),
    status("two of one family", { podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }, { ip: "::ffff:10.0.0.2" }] }),
    status("one of each", { podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }, { ip: "2001:db8::1" }] }),
  ]
}

function ofServices(): RequestStep[] {
  let count = 0
  const make = (label: string, spec: Body, annotations: Body = {}): RequestStep =>
    post(
      `${core}/services`,
      { metadata: { name: `a${count++}`, annotations }, spec: { ports: [{ port: 80 }], ...spec } },
      { label },
    )
  const annotation = "service.beta.kubernetes.io/load-balancer-source-ranges"
  const balanced = { type: "LoadBalancer", allocateLoadBalancerNodePorts: false }
  return [
    ...every(addresses, (ip, label) => [
      make(`external, ${label}`, { externalIPs: [ip] }),
      make(`of a balancer, ${label}`, { ...balanced, loadBalancerIP: ip }),
    ]),
    ...every(networks, (range, label) => [
      make(`source, ${label}`, { ...balanced, loadBalancerSourceRanges: [range] }),
      make(`annotated, ${label}`, balanced, { [annotation]: range }),
    ]),
    make("several annotated", balanced, { [annotation]: "10.0.0.0/8, 10.1.2.3/8,," }),
    make("annotated and another type", {}, { [annotation]: "10.0.0.0/8" }),
    make("both", { ...balanced, loadBalancerSourceRanges: ["10.0.0.0/8"] }, { [annotation]: "bad" }),
  ]
}

function ofEndpoints(): RequestStep[] {
  const slices = "/apis/discovery.k8s.io/v1/namespaces/@{ns}/endpointslices?dryRun=All"
  const slice = (addressType: string, address: string, label: string): RequestStep =>
    post(slices, { metadata: { name: "a" }, addressType, endpoints: [{ addresses: [address] }] }, { label })
  return [
    ...every(addresses, (ip, label) => [
      post(
        `${core}/endpoints?dryRun=All`,
        { metadata: { name: "a" }, subsets: [{ addresses: [{ ip, hostname: "A" }], notReadyAddresses: [{ ip }] }] },
        { label: `endpoints, ${label}` },
      ),
      slice("IPv4", ip, `IPv4, ${label}`),
      slice("IPv6", ip, `IPv6, ${label}`),
      slice("FQDN", ip, `FQDN, ${label}`),
    ]),
    ...["a.example.com.", "localhost", "a..b", "A.example.com", `${"a".repeat(64)}.example.com`, "."].map((name) =>
      slice("FQDN", name, `FQDN, ${name}`),
    ),
    post(slices, {
      metadata: { name: "a", labels: { "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" } },
      addressType: "IPv6",
      endpoints: [{ addresses: ["2001:db8:0:0::1"] }],
    }),
    post(`${core}/endpoints?dryRun=All`, {
      metadata: { name: "a", labels: { "endpoints.kubernetes.io/managed-by": "endpoint-controller" } },
      subsets: [{ addresses: [{ ip: "2001:db8:0:0::1" }] }],
    }),
  ]
}

function ofNames(): RequestStep[] {
  const parentRef = { resource: "services", namespace: "default", name: "a" }
  return every(addresses, (name, label) =>
    // It would be the name of a path as well.
    name.includes("/") || name === ""
      ? []
      : [
          post(
            "/apis/networking.k8s.io/v1/ipaddresses?dryRun=All",
            { metadata: { name }, spec: { parentRef } },
            { label },
          ),
        ],
  )
}

function ofPolicies(): RequestStep[] {
  const policies = "/apis/networking.k8s.io/v1/namespaces/@{ns}/networkpolicies?dryRun=All"
  const make = (ipBlock: Body, label: string): RequestStep =>
    post(
      policies,
      {
        metadata: { name: "a" },
        spec: { podSelector: {}, ingress: [{ from: [{ ipBlock }] }], egress: [{ to: [{ ipBlock }] }] },
      },
      { label },
    )
  return every(networks, (range, label) => [
    make({ cidr: range, except: ["10.9.8.128/25"] }, `a block, ${label}`),
    make({ cidr: "10.0.0.0/8", except: [range] }, `an exception, ${label}`),
  ])
}

function ofRanges(): RequestStep[] {
  const lists: Readonly<Record<string, string[]>> = {
    ...Object.fromEntries(Object.entries(networks).map(([label, text]) => [label, [text]])),
    "one of each": ["10.1.0.0/16", "2001:db8::/64"],
    "two of one": ["10.1.0.0/16", "10.2.0.0/16"],
    "two wrong ones": ["a", "b"],
    three: ["10.1.0.0/16", "2001:db8::/64", "10.3.0.0/16"],
    none: [],
  }
  const cidrs = (list: string[], label: string): RequestStep =>
    post(
      "/apis/networking.k8s.io/v1/servicecidrs?dryRun=All",
      { metadata: { name: "r@{id}" }, spec: { cidrs: list } },
      { label: `services, ${label}` },
    )
  // Nodes here are born without it.
  const taints = [{ effect: "NoSchedule", key: "node.kubernetes.io/not-ready" }]
  const node = (podCIDRs: string[], label: string): RequestStep =>
    post(
      "/api/v1/nodes?dryRun=All",
      { metadata: { name: "r@{id}" }, spec: { podCIDRs, taints } },
      { label: `a node, ${label}` },
    )
  return Object.entries(lists).flatMap(([label, list]) => [cidrs(list, label), node(list, label)])
}

function changedRanges(): RequestStep[] {
  const path = "/apis/networking.k8s.io/v1/servicecidrs"
  const [first, other] = ["10.77.0.0/24", "fd77::/112"]
  const wrong = [null, [], ["10.78.0.0/24"], [first, "10.78.0.0/24"], ["10.78.0.0/24", "x"], ["a", "b", "c"]]
  const right = [[first, other], [first], [first, "fd78::/112"]]
  const specs = [...wrong, ...right].map((cidrs) => ({ cidrs }))
  return [
    post(path, { metadata: { name: "r@{id}" }, spec: { cidrs: [first] } }),
    ...[null, ...specs].map((spec) =>
      patch(`${path}/r@{id}`, mergePatch, { spec }, { label: `PATCH ${JSON.stringify(spec)}` }),
    ),
    remove(`${path}/r@{id}`),
  ]
}

/** What is stored was right once; nothing here can store what is wrong, so it is what is right and stays. */
function kept(): RequestStep[] {
  const service = { metadata: { name: "kept" }, spec: { externalIPs: ["2001:DB8::1"], ports: [{ port: 80 }] } }
  return [
    post(`${core}/services`, service),
    put(`${core}/services/kept`, { ...service, metadata: { name: "kept", labels: { a: "b" } } }),
    patch(`${core}/services/kept`, strategicPatch, { spec: { externalIPs: ["10.9.8.007"] } }),
    patch(`${core}/services/kept/status`, strategicPatch, { status: { loadBalancer: { ingress: [{ ip: "::A" }] } } }),
    patch(`${core}/services/kept`, strategicPatch, { spec: { type: "LoadBalancer" } }),
    patch(`${core}/services/kept/status`, strategicPatch, {
      status: { loadBalancer: { ingress: [{ ip: "2001:DB8::A" }, { hostname: "010.1.1.1" }, { ip: "10.1.1.01" }] } },
    }),
    remove(`${core}/services/kept`),
  ]
}
