// Proxies to services, pods and nodes: every form of a name, and what is wrong before there is a connection.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, post, type RequestStep, type Scenario } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const methods = ["HEAD", "OPTIONS", "TRACE", "POST", "PUT", "PATCH", "DELETE"]

export function proxyCases(): Scenario[] {
  return [
    { name: "proxies to services", steps: [...services(), ...requests("services", serviceNames)] },
    { name: "proxies to pods", steps: [...pods(), ...requests("pods", podNames)] },
    {
      name: "proxies to nodes",
      steps: nodeNames.flatMap((name) => get(`/api/v1/nodes/${name}/proxy/x?y=z`)),
    },
  ]
}

const forms = (name: string): string[] => [
  ...["", ":", ":80", ":web", ":named", ":nope", ":0", ":-1", ":65536", ":99999999999", ":99999999999999999999"].map(
    (end) => `${name}${end}`,
  ),
  ...[":080", ":+80", ":%2B80", ":8%200", ":80:", ":b:c:d"].map((end) => `${name}${end}`),
  ...["http", "https", "HTTP", "ftp", ""].flatMap((scheme) =>
    ["", "80", "web", "nope"].map((port) => `${scheme}:${name}:${port}`),
  ),
]

const odd = [":", "::", ":::", "http::80", ":80", "http:A:80", "A", "a%2fb", "a_b", "-a", "http:a:80:x"]
const serviceNames = [
  ...forms("a"),
  ...["absent", "bare", "external", "headless", "manual", "gone"].flatMap(ends),
  ...odd,
]
const podNames = [...forms("none"), ...forms("absent"), ...odd]
const nodeNames = [...forms("absent"), ...odd]

function ends(name: string): string[] {
  return [name, `${name}:80`, `${name}:web`, `https:${name}:web`]
}

function requests(resource: string, names: readonly string[]): RequestStep[] {
  const one = `${core}/${resource}/${names[0]}`
  return [
    ...names.flatMap((name) => [
      get(`${core}/${resource}/${name}/proxy`),
      get(`${core}/${resource}/${name}/proxy/x?y=z`),
    ]),
    ...methods.flatMap((method) => [
      { method, path: `${one}/proxy/x` },
      { method, path: `${core}/${resource}/absent/proxy` },
    ]),
    get(`/api/v1/${resource}/a/proxy`),
    get(`/api/v1/proxy/namespaces/@{ns}/${resource}/a`),
    get(`${one}/proxy?path=/y`),
    get(`${one}/proxy/?path=%zz`),
  ]
}

function services(): RequestStep[] {
  const ports = [
    { name: "web", port: 80 },
    { name: "named", port: 81, targetPort: "tn" },
  ]
  const service = (name: string, spec: Json): RequestStep => post(`${core}/services`, { metadata: { name }, spec })
  const endpoints = (name: string, subsets: Json): RequestStep =>
    post(`${core}/endpoints`, { metadata: { name }, subsets }, { label: `POST endpoints ${name}` })
  const at = (...targets: Json[]): Json => [
    {
      addresses: targets.map((target) => ({ ip: "10.1.2.3", ...(target as object) })),
      ports: [{ name: "web", port: 80 }],
    },
  ]
  return [
    service("a", { ports }),
    endpoints("a", []),
    service("bare", { ports }),
    service("external", { type: "ExternalName", externalName: "example.invalid", ports }),
    service("headless", { clusterIP: "None" }),
    service("manual", { ports }),
    endpoints("manual", at({})),
    service("gone", { ports }),
    endpoints(
      "gone",
      at(
        { targetRef: { kind: "Pod", name: "gone", namespace: "@{ns}" } },
        { ip: "10.1.2.4", targetRef: { kind: "Pod", name: "gone", namespace: "default" } },
      ),
    ),
  ]
}

function pods(): RequestStep[] {
  const containers = [
    { name: "c", image: "i", ports: [{ name: "web", containerPort: 8080 }] },
    { name: "d", image: "i", ports: [{ name: "web", containerPort: 9090 }] },
  ]
  return [post(`${core}/pods`, { metadata: { name: "none" }, spec: { containers } })]
}
