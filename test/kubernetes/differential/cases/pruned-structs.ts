// Structs that one manager applies with contents and another as empty ones. What the first then applies within them are lists without items,
// which nobody manages.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, patch, type RequestStep, type Scenario } from "../scenario.ts"

interface Applied {
  path: string
  kind: string
  name: string
  contents: { [field: string]: Json }
  list: string
}

const applied: readonly Applied[] = [
  {
    path: "/api/v1/namespaces/@{ns}/services",
    kind: "Service",
    name: "a",
    contents: { clusterIP: "None" },
    list: "ports",
  },
  { path: "/api/v1/nodes", kind: "Node", name: "a@{id}", contents: { unschedulable: true }, list: "podCIDRs" },
  { path: "/api/v1/nodes", kind: "Node", name: "b@{id}", contents: { unschedulable: true }, list: "taints" },
]

export function prunedStructCases(): Scenario[] {
  return applied.map((one) => ({ name: `the spec of a ${one.kind} is pruned, with ${one.list}`, steps: steps(one) }))
}

function steps({ path, kind, name, contents, list }: Applied): RequestStep[] {
  const apply = (manager: string, spec: Json | undefined, more = ""): RequestStep => {
    const object = { apiVersion: "v1", kind, metadata: { name }, ...(spec === undefined ? {} : { spec }) }
    const query = `fieldManager=${manager}&force=true${more}`
    return patch(`${path}/${name}?${query}`, applyPatch, object, { label: `APPLY ${query} ${JSON.stringify(spec)}` })
  }
  const lasts: (Json | undefined)[] = [{ [list]: [] }, { [list]: null }, {}, null, undefined]
  return [
    apply("two", contents),
    apply("one", {}),
    ...lasts.map((spec) => apply("two", spec, "&dryRun=All")),
    apply("two", {}),
    ...lasts.map((spec) => apply("two", spec, "&dryRun=All")),
    apply("two", { [list]: [] }),
    get(`${path}/${name}`),
    apply("one", {}),
  ]
}
