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
  return [
    ...applied.map((one) => ({ name: `the spec of a ${one.kind} is pruned, with ${one.list}`, steps: steps(one) })),
    ...unchanged.map((one) => ({
      name: `an apply changes nothing of a ${one.kind} without a group`,
      steps: again(one),
    })),
  ]
}

/** With a pointer that Go prints as null if there is nothing to point to. */
const unchanged: readonly { path: string; apiVersion: string; kind: string; spec: Json }[] = [
  {
    path: "/apis/networking.k8s.io/v1/namespaces/@{ns}/ingresses",
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    spec: { defaultBackend: { resource: { kind: "PersistentVolumeClaim", name: "claim" } } },
  },
  {
    path: "/api/v1/namespaces/@{ns}/persistentvolumeclaims",
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
      dataSource: { kind: "PersistentVolumeClaim", name: "claim" },
    },
  },
]

function again({ path, apiVersion, kind, spec }: (typeof unchanged)[number]): RequestStep[] {
  const apply = (manager: string, more: Json): RequestStep =>
    patch(
      `${path}/a?fieldManager=${manager}`,
      applyPatch,
      { apiVersion, kind, metadata: { name: "a" }, spec: more },
      { label: `APPLY by ${manager} ${JSON.stringify(more)}` },
    )
  return [apply("one", spec), apply("one", spec), apply("two", spec), apply("three", {}), get(`${path}/a`)]
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
