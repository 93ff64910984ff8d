// Families of addresses a Service asks for, in every way with every policy, when it is made and when it is changed.

import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, patch, post, remove, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

const services = "/api/v1/namespaces/@{ns}/services"

export function serviceFamilyCases(): Scenario[] {
  return [
    ...kinds.map((kind) => ({ name: `a service of any families, ${JSON.stringify(kind)}`, steps: made(kind) })),
    ...starts.map((start) => ({
      name: `a service gets any families, ${JSON.stringify(start)}`,
      steps: changed(start),
    })),
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
