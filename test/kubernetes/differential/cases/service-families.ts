// Address families of Services with every policy, in creates and updates.

import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

const services = "/api/v1/namespaces/@{ns}/services"

export function serviceFamilyCases(): Scenario[] {
  return [
    ...kinds.map((kind) => ({ name: `a service of any families, ${JSON.stringify(kind)}`, steps: made(kind) })),
    ...starts.map((start) => ({
      name: `a service gets any families, ${JSON.stringify(start)}`,
      steps: changed(start),
    })),
    { name: "a headless service gets a selector, and loses it", steps: selected() },
    { name: "a service has wrong addresses and other faults", steps: besideOthers() },
  ]
}

const policies = [undefined, "SingleStack", "PreferDualStack", "RequireDualStack", "Bogus", ""]
const families: (string[] | undefined)[] = [
  undefined,
  [],
  ["IPv4"],
  ["IPv6"],
  ["IPv4", "IPv6"],
  ["IPv6", "IPv4"],
  ["IPv4", "IPv4"],
  ["IPv4", "Bogus"],
  ["IPv4", "IPv6", "IPv4"],
  [""],
]

const kinds: Body[] = [
  {},
  { clusterIP: "None" },
  { clusterIP: "None", selector: { a: "b" } },
  { type: "ExternalName", externalName: "a.example" },
  { clusterIP: "fd00::1" },
]

/** Not of one that has an address of a family the cluster may lack: a dry run does not ask for it. */
const starts: Body[] = [
  { clusterIP: "None" },
  { clusterIP: "None", ipFamilyPolicy: "PreferDualStack" },
  { clusterIP: "None", ipFamilyPolicy: "SingleStack" },
]

function combinations(): { policy: string | undefined; list: string[] | undefined; label: string }[] {
  return policies.flatMap((policy) =>
    families.map((list) => ({ policy, list, label: `${policy ?? "no policy"}, ${JSON.stringify(list) ?? "none"}` })),
  )
}

function made(kind: Body): RequestStep[] {
  return combinations().map(({ policy, list, label }, index) =>
    post(
      services,
      {
        metadata: { name: `s${index}` },
        spec: {
          ports: [{ port: 80 }],
          ...kind,
          ...(policy === undefined ? {} : { ipFamilyPolicy: policy }),
          ...(list === undefined ? {} : { ipFamilies: list }),
        },
      },
      { label },
    ),
  )
}

function changed(start: Body): RequestStep[] {
  const change = (spec: Body, label: string): RequestStep =>
    patch(`${services}/a?dryRun=All`, mergePatch, { spec }, { label })
  return [
    post(services, { metadata: { name: "a" }, spec: { ports: [{ port: 80 }], ...start } }),
    ...combinations().flatMap(({ policy, list, label }) => {
      const all: Body = { ipFamilyPolicy: policy ?? null, ipFamilies: list ?? null }
      const given: Body = policy === undefined ? {} : { ipFamilyPolicy: policy }
      if (list !== undefined) given["ipFamilies"] = list
      return [
        change(all, `all: ${label}`),
        change(given, `given: ${label}`),
        change({ ...all, type: "NodePort" }, label),
      ]
    }),
    patch(`${services}/a`, mergePatch, { spec: { ipFamilyPolicy: "SingleStack" } }),
    patch(`${services}/a`, mergePatch, { spec: { ipFamilyPolicy: "PreferDualStack" } }),
    remove(`${services}/a`),
  ]
}

/** Only without a selector may it have families that the cluster has not. */
function selected(): RequestStep[] {
  return [undefined, "SingleStack", "PreferDualStack", "RequireDualStack"].flatMap((ipFamilyPolicy, index) => {
    const change = (selector: Json, label: string): RequestStep =>
      patch(`${services}/s${index}`, mergePatch, { spec: { selector } }, { label: `${label} ${ipFamilyPolicy}` })
    const given: Body = ipFamilyPolicy === undefined ? {} : { ipFamilyPolicy }
    return [
      post(services, { metadata: { name: `s${index}` }, spec: { clusterIP: "None", ...given } }),
      change({ a: "b" }, "with"),
      change({ a: "c" }, "with another"),
      change(null, "without"),
      change({ a: "b" }, "with again"),
      change(null, "without again"),
      put(`${services}/s${index}`, {
        metadata: { name: `s${index}` },
        spec: { clusterIP: "None", selector: { a: "b" } },
      }),
      put(`${services}/s${index}`, {
        metadata: { name: `s${index}` },
        spec: { clusterIP: "None", selector: { a: "b" }, ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4"] },
      }),
      change(null, "of a single family without"),
    ]
  })
}

/** What is wrong with addresses is told alone, but of a service that its status makes. */
function besideOthers(): RequestStep[] {
  const faults: Body = { name: "A b", labels: { "bad key!": "x" } }
  const wrong: Body[] = [
    { clusterIP: "a", ports: [{}] },
    { clusterIPs: ["a"] },
    { clusterIPs: ["10.96.0.9"] },
    { ipFamilies: ["IPv4", "IPv4"] },
    { ipFamilies: ["IPv4", "IPv6"], ports: [{ port: 1, targetPort: "100%" }] },
  ]
  const held: Body = { labels: { "bad key!": "x" }, name: "b" }
  return [
    ...wrong.flatMap((spec, index) => [
      post(services, { metadata: faults, spec }, { label: `POST ${index}` }),
      put(`${services}/a/status`, { metadata: { name: "a" }, spec }, { label: `PUT status ${index}` }),
    ]),
    post(services, { metadata: { name: "b" }, spec: { ports: [{ port: 80 }] } }),
    ...wrong.map((spec, index) => put(`${services}/b`, { metadata: held, spec }, { label: `PUT ${index}` })),
  ]
}
