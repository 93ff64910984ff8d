// Namespaces and names that lead elsewhere, or look like something else: what is looked up and made by them, and how errors tell them.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const resources = [
  "/api/v1/*/configmaps",
  "/api/v1/*/services",
  "/api/v1/*/endpoints",
  "/api/v1/*/replicationcontrollers",
  "/apis/apps/v1/*/deployments",
  "/apis/networking.k8s.io/v1/*/ingresses",
]

export function oddNameCases(): Scenario[] {
  return [
    {
      name: "a namespace is none",
      steps: [".", ".."].flatMap((name) => resources.flatMap((path) => uses(path, name))),
    },
    { name: "a namespace cannot be a name", steps: ["%25", "a%25b", "%252f"].flatMap((name) => makes(name)) },
    { name: "who has no rights is told what has no markup", steps: denials() },
  ]
}

const within = (path: string, namespace: string): string => path.replace("*", `namespaces/${namespace}`)

function uses(resource: string, namespace: string): RequestStep[] {
  const path = within(resource, namespace)
  const label = (verb: string): { label: string } => ({ label: `${verb} ${path}` })
  return [
    get(path),
    get(`${path}?fieldSelector=metadata.name%3Da`),
    get(`${path}?watch=true&timeoutSeconds=1`),
    get(`${path}/a`),
    post(`${path}?dryRun=All`, { metadata: { name: "a" } }, label("POST")),
    patch(`${path}/a?dryRun=All`, mergePatch, {}, label("PATCH")),
    remove(`${path}/a?dryRun=All`, undefined, label("DELETE")),
    remove(`${path}?dryRun=All`, undefined, label("DELETE all")),
  ]
}

function makes(namespace: string): RequestStep[] {
  const path = within("/api/v1/*/configmaps", namespace)
  const map: Json = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }
  return [
    get(path),
    get(`${path}/a`),
    post(`${path}?dryRun=All`, map),
    put(`${path}/a?dryRun=All`, map),
    patch(`${path}/a?dryRun=All&fieldManager=m`, applyPatch, map),
    post(within("/api/v1/*/serviceaccounts/a/token", namespace), { spec: {} }),
  ]
}

function denials(): RequestStep[] {
  const as = { name: "<b>&amp;" }
  const names = ["a%3Cb%3E", "%26", "%22'"]
  return [
    ...names.flatMap((name) => [
      get(`/api/v1/namespaces/${name}/configmaps`, { as }),
      get(`/api/v1/namespaces/default/configmaps/${name}/${name}`, { as }),
      get(`/apis/${name}/v1/${name}`, { as }),
      get(`/x/${name}`, { as }),
    ]),
    get("/api/v1/nodes", { headers: { "impersonate-user": "a", "impersonate-group": "<g>" }, label: "GET as <g>" }),
  ]
}
