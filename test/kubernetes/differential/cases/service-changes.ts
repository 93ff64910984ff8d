// Services that change their type, policy and ports, and what is allocated and released with them.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

const core = "/api/v1/namespaces/@{ns}"
const services = `${core}/services`

export function serviceChangeCases(): Scenario[] {
  return [
    { name: "ports of a service share node ports", steps: sharedPorts() },
    { name: "ports of a service get further protocols", steps: addedPorts() },
    { name: "a service has a wrong node port and another fault", steps: twoFaults() },
    { name: "health check ports of services", steps: healthChecks() },
    { name: "services are dry runs", steps: dryRuns() },
    { name: "a service of every type becomes one of every other", steps: types() },
    { name: "a service with endpoints is deleted", steps: deletions() },
    { name: "a service changes addresses", steps: addresses() },
    { name: "a service of the balancer changes", steps: balancers() },
  ]
}

const change = (name: string, spec: Body, label = ""): RequestStep =>
  patch(`${services}/${name}`, mergePatch, { spec }, { label: `${name} ${label} ${JSON.stringify(spec)}` })
const make = (name: string, spec: Body, more: Body = {}): RequestStep =>
  post(services, { metadata: { name, ...more }, spec }, { label: `POST ${name} ${JSON.stringify(spec)}` })

const port = (name: string, number: number, protocol: string, nodePort = 0): Body => ({
  name,
  port: number,
  protocol,
  ...(nodePort === 0 ? {} : { nodePort }),
})

function sharedPorts(): RequestStep[] {
  const type = "NodePort"
  return [
    make("later", { type, ports: [port("a", 80, "TCP"), port("b", 80, "UDP", 30_011)] }),
    make("both", { type, ports: [port("a", 80, "TCP", 30_012), port("b", 80, "UDP", 30_012)] }),
    make("other-number", { type, ports: [port("a", 80, "TCP", 30_013), port("b", 81, "UDP", 30_013)] }),
    make("two", { type, ports: [port("a", 80, "TCP", 30_014), port("b", 80, "UDP", 30_015)] }),
    make("third", { type, ports: [port("a", 80, "TCP", 30_016), port("b", 81, "TCP"), port("c", 80, "UDP")] }),
    make("first-of-two", {
      type,
      ports: [port("a", 80, "TCP"), port("b", 80, "UDP", 30_017), port("c", 80, "SCTP", 30_018)],
    }),
    make("same-port", { type, ports: [port("a", 80, "TCP", 30_020), port("b", 80, "TCP", 30_020)] }),
    make("none", {
      type: "LoadBalancer",
      allocateLoadBalancerNodePorts: false,
      ports: [port("a", 80, "TCP"), port("b", 80, "UDP", 30_021)],
    }),
    make("none-but", {
      type: "LoadBalancer",
      allocateLoadBalancerNodePorts: false,
      ports: [port("a", 80, "TCP", 30_022), port("b", 80, "UDP")],
    }),
    make("taken", { type, ports: [port("a", 80, "TCP"), port("b", 80, "UDP", 30_011)] }),
    make("low", { type, ports: [port("a", 80, "TCP"), port("b", 80, "UDP", 80)] }),
  ]
}

function addedPorts(): RequestStep[] {
  const type = "NodePort"
  return [
    make("a", { type, ports: [port("a", 80, "TCP", 30_031)] }),
    change("a", { ports: [port("a", 80, "TCP", 30_031), port("b", 80, "UDP")] }),
    change("a", { ports: [port("a", 80, "TCP"), port("b", 80, "UDP")] }),
    change("a", { ports: [port("c", 80, "TCP"), port("d", 80, "UDP")] }),
    change("a", { ports: [port("a", 80, "TCP", 30_032), port("b", 81, "UDP", 30_032)] }),
    change("a", { ports: [port("a", 80, "TCP", 80)] }),
    change("a", { ports: [] }),
    change("a", { ports: [{ port: 80 }] }),
    get(`${services}/a`),
  ]
}

function twoFaults(): RequestStep[] {
  const spec: Body = { type: "NodePort", sessionAffinity: "Bogus", ports: [port("a", 80, "TCP", 80)] }
  const twice: Body = { ports: [port("a", 80, "TCP", 30_023), port("b", 81, "TCP", 30_023)] }
  return [
    post(services, { metadata: { name: "a" }, spec }, { label: "created" }),
    make("a", { type: "NodePort", ports: [port("a", 80, "TCP")] }),
    patch(`${services}/a`, mergePatch, { spec: twice }, { label: "changed" }),
  ]
}

/** They are told addresses, and ports that nobody has. */
function dryRuns(): RequestStep[] {
  const type = "NodePort"
  const specs: readonly Body[] = [
    { ports: [{ port: 80 }] },
    { ports: [{ port: 80 }], clusterIP: "None" },
    { ports: [{ port: 80 }], clusterIP: "None", selector: { a: "b" } },
    { ports: [{ port: 80 }], ipFamilies: ["IPv6"] },
    { ports: [{ port: 80 }], ipFamilyPolicy: "PreferDualStack" },
    { ports: [{ port: 80 }], ipFamilyPolicy: "RequireDualStack" },
    { type: "ExternalName", externalName: "a.example" },
    { type, ports: [port("a", 80, "TCP"), port("b", 81, "TCP")] },
    { type, ports: [port("a", 80, "TCP"), port("b", 80, "UDP")] },
    { type, ports: [port("a", 80, "TCP", 30_051), port("b", 81, "TCP")] },
    { type, ports: [port("a", 80, "TCP", 80)] },
    { type, ports: [port("a", 80, "TCP", 30_053)] },
    { type: "LoadBalancer", ports: [{ port: 80 }] },
    { type: "LoadBalancer", ports: [{ port: 80 }], externalTrafficPolicy: "Local" },
    { type: "LoadBalancer", ports: [{ port: 80 }], allocateLoadBalancerNodePorts: false },
  ]
  const dry = (spec: Body): RequestStep =>
    post(`${services}?dryRun=All`, { metadata: { name: "a" }, spec }, { label: `POST dry ${JSON.stringify(spec)}` })
  const dryChange = (spec: Body): RequestStep =>
    patch(`${services}/a?dryRun=All`, mergePatch, { spec }, { label: `PATCH dry ${JSON.stringify(spec)}` })
  return [
    ...specs.map(dry),
    make("a", { type, ports: [port("a", 80, "TCP", 30_053)] }),
    dry({ type, ports: [port("a", 80, "TCP", 30_053)] }),
    ...specs.map(dryChange),
    get(`${services}/a`),
  ]
}

function healthChecks(): RequestStep[] {
  const local: Body = { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [{ port: 80 }] }
  return [
    make("low", { ...local, healthCheckNodePort: 80 }),
    make("a", { ...local, healthCheckNodePort: 30_041 }),
    make("taken", { ...local, healthCheckNodePort: 30_041 }),
    make("own", { ...local, healthCheckNodePort: 30_042, ports: [port("a", 80, "TCP", 30_042)] }),
    change("a", { healthCheckNodePort: 30_043 }),
    change("a", { healthCheckNodePort: 0 }),
    change("a", { healthCheckNodePort: null }),
    change("a", { externalTrafficPolicy: "Cluster", healthCheckNodePort: 30_044 }),
    change("a", { externalTrafficPolicy: "Cluster" }),
    change("a", { externalTrafficPolicy: "Local", healthCheckNodePort: 80 }),
    change("a", { externalTrafficPolicy: "Local", healthCheckNodePort: 30_041 }),
    change("a", { type: "NodePort", healthCheckNodePort: 30_045 }),
    change("a", { type: "NodePort" }),
    change("a", { healthCheckNodePort: 30_045 }),
    change("a", { type: "LoadBalancer", healthCheckNodePort: 30_045 }),
    change("a", { type: "ClusterIP", externalTrafficPolicy: "Cluster" }),
    change("a", { type: "ClusterIP" }),
    make("b", { ports: [{ port: 80 }], externalTrafficPolicy: "Local" }),
    make("b", { ports: [{ port: 80 }], externalTrafficPolicy: "Local", externalIPs: ["1.2.3.4"] }),
    change("b", { externalIPs: null }),
    change("b", { externalIPs: ["1.2.3.4"] }),
    change("b", { externalIPs: null, externalTrafficPolicy: "Local" }),
    change("b", { externalTrafficPolicy: "Bogus" }),
    change("b", { type: "ExternalName", externalName: "a.example" }),
    change("b", { externalIPs: null, externalTrafficPolicy: null }),
    change("b", { type: "NodePort" }),
    change("b", { type: "NodePort", externalName: "" }),
  ]
}

function types(): RequestStep[] {
  const kinds: Body[] = [
    { type: "ClusterIP" },
    { type: "NodePort" },
    { type: "LoadBalancer" },
    { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, loadBalancerClass: "a/b" },
    {
      type: "LoadBalancer",
      externalTrafficPolicy: "Local",
      loadBalancerIP: "1.2.3.4",
      loadBalancerSourceRanges: ["1.2.3.0/24"],
    },
    { type: "ExternalName", externalName: "a.example" },
    { type: "ClusterIP", clusterIP: "None" },
    { type: "ClusterIP", externalIPs: ["1.2.3.4"], externalTrafficPolicy: "Local" },
    { type: "NodePort", internalTrafficPolicy: "Local", sessionAffinity: "ClientIP" },
  ]
  return kinds.flatMap((from, a) =>
    kinds.flatMap((to, b) => {
      const name = `s${a}-${b}`
      const ports = [port("a", 80, "TCP"), port("b", 80, "UDP")]
      return [
        make(name, { ...from, ports }),
        change(name, to, "merged"),
        put(`${services}/${name}`, { metadata: { name }, spec: { ...from, ports } }, { label: `PUT ${name} back` }),
        change(name, { type: to["type"] ?? null }, "type"),
        put(`${services}/${name}`, { metadata: { name }, spec: { ...to, ports } }, { label: `PUT ${name}` }),
        remove(`${services}/${name}`),
      ]
    }),
  )
}

function deletions(): RequestStep[] {
  const endpoints = (name: string): RequestStep => post(`${core}/endpoints`, { metadata: { name } })
  const ports = [{ port: 80 }]
  return [
    make("a", { ports }),
    endpoints("a"),
    remove(`${services}/a?dryRun=All`),
    get(`${core}/endpoints/a`),
    remove(`${services}/a`),
    get(`${core}/endpoints/a`),
    make("b", { ports }, { finalizers: ["a/b"] }),
    endpoints("b"),
    remove(`${services}/b`),
    get(`${core}/endpoints/b`),
    patch(`${services}/b/status`, mergePatch, { metadata: { finalizers: null } }),
    get(`${core}/endpoints/b`),
    make("c", { ports }),
    endpoints("c"),
    remove(services),
    get(`${core}/endpoints`),
    make("d", { ports, clusterIP: "10.96.99.7" }, { finalizers: ["a/b"] }),
    remove(`${services}/d`),
    make("e", { ports, clusterIP: "10.96.99.7" }),
    patch(`${services}/d`, mergePatch, { metadata: { finalizers: null } }),
    make("e", { ports, clusterIP: "10.96.99.7" }),
  ]
}

function addresses(): RequestStep[] {
  const ports = [{ port: 80 }]
  return [
    make("a", { ports, clusterIP: "10.96.98.1" }),
    change("a", { clusterIP: "10.96.98.2" }),
    change("a", { clusterIP: "" }),
    change("a", { clusterIP: null, clusterIPs: null }),
    change("a", { clusterIP: "None" }),
    change("a", { clusterIP: "None", clusterIPs: ["None"] }),
    change("a", { clusterIPs: ["10.96.98.2"] }),
    change("a", { clusterIPs: [] }),
    change("a", { clusterIP: "", clusterIPs: ["10.96.98.1"] }),
    change("a", { clusterIP: "10.96.98.2", clusterIPs: ["10.96.98.2"] }),
    change("a", { clusterIPs: ["10.96.98.1", "fd00::1"], ipFamilyPolicy: "PreferDualStack" }),
    change("a", { ipFamilyPolicy: "PreferDualStack" }),
    change("a", { ipFamilies: ["IPv4", "IPv6"] }),
    change("a", { ipFamilyPolicy: "RequireDualStack" }),
    change("a", { type: "ExternalName", externalName: "a.example", clusterIP: "10.96.98.3" }),
    change("a", { type: "ExternalName", externalName: "a.example", ipFamilies: null }),
    change("a", { type: "ClusterIP", clusterIP: "10.96.98.3" }),
    change("a", { type: "ExternalName", externalName: "a.example", ipFamilyPolicy: "SingleStack" }),
    change("a", { type: "ExternalName", externalName: "a.example", clusterIP: null, clusterIPs: null }),
    change("a", { type: "ClusterIP", clusterIP: "10.96.98.1" }),
    make("b", { ports, clusterIP: "None" }),
    change("b", { clusterIP: "" }),
    change("b", { clusterIP: null, clusterIPs: null }),
    change("b", { type: "NodePort" }),
    change("b", { ports: null }),
    change("b", { selector: { a: "b" }, ports: null }),
    change("b", { type: "ExternalName", externalName: "a.example" }),
    change("b", { type: "ClusterIP" }),
    make("c", { ports, clusterIP: "10.96.098.4" }),
    make("c", { ports, clusterIP: "10.96.98.4", clusterIPs: [] }),
    make("d", { ports, clusterIPs: ["10.96.98.5"] }),
    make("d", { ports, clusterIP: "", clusterIPs: ["None"] }),
    make("d", { ports, clusterIP: "None", clusterIPs: ["None", "10.96.98.5"] }),
    make("d", { ports, clusterIP: "10.96.98.5", clusterIPs: ["10.96.98.5", "None"] }),
    make("d", { ports, clusterIP: "10.96.0.0" }),
    make("d", { ports, clusterIP: "10.96.255.255" }),
  ]
}

function balancers(): RequestStep[] {
  const ports = [{ port: 80 }]
  return [
    make("a", { type: "LoadBalancer", ports, loadBalancerClass: "a/b" }),
    change("a", { loadBalancerClass: "a/c" }),
    change("a", { loadBalancerClass: null }),
    change("a", { type: "NodePort", loadBalancerClass: "a/c" }),
    change("a", { type: "NodePort", allocateLoadBalancerNodePorts: false }),
    change("a", { type: "NodePort", allocateLoadBalancerNodePorts: null }),
    change("a", { type: "LoadBalancer", loadBalancerClass: "a/c" }),
    change("a", { allocateLoadBalancerNodePorts: false }),
    change("a", { ports: [{ port: 81 }] }),
    change("a", { ports: [{ port: 81, nodePort: 0 }] }),
    change("a", { ports: [{ port: 82, nodePort: 30_051 }] }),
    change("a", { ports: [{ port: 82, name: "b" }] }),
    change("a", { allocateLoadBalancerNodePorts: null }),
    put(`${services}/a/status`, {
      metadata: { name: "a" },
      spec: { type: "LoadBalancer" },
      status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }, { hostname: "a.example", ipMode: "VIP" }] } },
    }),
    put(`${services}/a/status`, {
      metadata: { name: "a" },
      spec: { type: "LoadBalancer" },
      status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }, { hostname: "a.example" }] } },
    }),
    patch(`${services}/a/status`, mergePatch, { status: { loadBalancer: { ingress: [{ ip: "01.2.3.4" }] } } }),
    patch(`${services}/a/status`, mergePatch, { status: { conditions: [{ type: "a" }] } }),
    patch(`${services}/a/status`, mergePatch, { spec: { type: "ClusterIP" }, status: { loadBalancer: null } }),
    patch(`${services}/a/status`, mergePatch, { status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } }),
    change("a", { type: "ClusterIP" }),
    patch(`${services}/a/status`, mergePatch, {
      status: { loadBalancer: { ingress: [{ ip: "1.2.3.4", ipMode: "VIP" }] } },
    }),
    change("a", { type: "LoadBalancer" }),
    get(`${services}/a`),
  ]
}
