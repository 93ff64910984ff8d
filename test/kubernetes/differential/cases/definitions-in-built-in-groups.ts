// Definitions in groups of built-in kinds: they are established, but all paths of such a group belong to the built-in server. A kind of
// the same name as a built-in one leaves its objects alone.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, post, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { definitions } from "./things.ts"

const group = "discovery.k8s.io"
const listIn = (version: string, plural: string): string => `/apis/${group}/${version}/namespaces/@{ns}/${plural}`
const slices = listIn("v1", "endpointslices")

export function builtInGroupDefinitionCases(): Scenario[] {
  return [
    {
      name: "a definition adds to a built-in group",
      steps: [...defined("t@{id}s", "T@{id}"), ...reached("t@{id}s", "T@{id}"), ...gone("t@{id}s")],
    },
    {
      name: "a definition has the name of a built-in resource",
      steps: [
        ...defined("endpointslices", "EndpointSlice"),
        post(slices, { addressType: "IPv4", endpoints: [], metadata: { name: "a" } } as Json),
        ...reached("endpointslices", "EndpointSlice"),
        ...gone("endpointslices"),
        get(`${slices}/a`, { label: "GET a after the end" }),
      ],
    },
  ]
}

function defined(plural: string, kind: string): RequestStep[] {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
  const versions = ["v1", "v7"].map((name) => ({ name, served: true, storage: name === "v1", schema }))
  const metadata = { name: `${plural}.${group}`, annotations: { "api-approved.kubernetes.io": "unapproved" } }
  const spec = { group, scope: "Namespaced", names: { plural, singular: plural, kind }, versions }
  return [
    post(definitions, { metadata, spec } as Json, { label: `WRITE ${plural}` }),
    get(`${definitions}/${plural}.${group}`, { untilText: '"type":"Established"', label: `READ ${plural}` }),
  ]
}

function reached(plural: string, kind: string): RequestStep[] {
  return ["v1", "v7"].flatMap((version) => {
    const object = { apiVersion: `${group}/${version}`, kind, metadata: { name: "b" } }
    const list = listIn(version, plural)
    return [get(list), post(list, object), get(`${list}/b`), get(`${list}/a`), remove(`${list}/b`)]
  })
}

function gone(plural: string): RequestStep[] {
  const path = `${definitions}/${plural}.${group}`
  return [
    get(`/apis/${group}/v7`),
    get(`/apis/${group}`, { label: "GET group" }),
    get(`/openapi/v3/apis/${group}/v7`, { label: "GET OpenAPI of v7" }),
    remove(path, undefined, { label: `WRITE end of ${plural}` }),
    get(path, { untilCode: 404, label: `READ no ${plural}` }),
  ]
}
