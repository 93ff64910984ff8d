// Paths that resemble those of built-in resources, with every method: which of them are no routes at all, and which lack a method.

import { get, type RequestStep, type Scenario } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const reviews = "/apis/authorization.k8s.io/v1"
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"]
const ends = ["", "/x", "/x/status", "/x/y", "/x/y/z"]

const paths = [
  "/apis/authentication.k8s.io/v1/selfsubjectreviews",
  "/apis/authentication.k8s.io/v1/tokenreviews",
  "/apis/authentication.k8s.io/v1/watch/tokenreviews",
  `${reviews}/subjectaccessreviews`,
  `${reviews}/namespaces/@{ns}/localsubjectaccessreviews`,
  `${reviews}/localsubjectaccessreviews`,
  `${core}/bindings`,
  "/api/v1/bindings",
  "/apis/apps/v1/deployments",
  "/api/v1/watch/componentstatuses",
  "/api/v1/watch/podtemplates",
  "/api/v1/watch/namespaces/@{ns}/bindings",
  "/api/v1/watch/namespaces/@{ns}/configmaps",
  "/api/v1/proxy/namespaces/@{ns}/pods",
]

export function unroutedPathCases(): Scenario[] {
  return [
    { name: "paths of built-in resources with every method", steps: paths.flatMap(steps) },
    {
      name: "a name is selected in all namespaces",
      steps: ["configmaps", "watch/configmaps"].map((path) =>
        get(`/api/v1/${path}?fieldSelector=metadata.name%3Dx-@{id}&timeoutSeconds=1`),
      ),
    },
  ]
}

function steps(path: string): RequestStep[] {
  const all = ends.map((end) => `${path}${end}${path.includes("watch") ? "?timeoutSeconds=1" : ""}`)
  return all.flatMap((each) => methods.map((method) => ({ method, path: each, label: `${method} ${each}` })))
}
