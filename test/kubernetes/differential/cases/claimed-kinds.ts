// Bodies that claim to be other kinds than their paths expect: kinds of any version, of every version, of versions that there are only in
// memory, of none.

import { post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const maps = "/api/v1/namespaces/@{ns}/configmaps"
const targets: readonly ((body: string) => RequestStep)[] = [
  (body) => post(`${maps}?dryRun=All`, body, { label: `POST ${body}` }),
  (body) => put("/apis/apps/v1/namespaces/@{ns}/deployments/none/scale", body, { label: `PUT scale ${body}` }),
  (body) => remove(`${maps}/none`, body, { label: `DELETE ${body}` }),
]

const common = ["Status", "APIGroup", "DeleteOptions", "CreateOptions", "PatchOptions", "GetOptions", "ListOptions"]
const kinds = [...common, "WatchEvent", "Table", "PartialObjectMetadataList", "ConfigMap", "Pod", "Scale", "Nope"]
const versions = [
  ["v1", "/v1", "meta.k8s.io/v1", "meta.k8s.io/v1beta1", "meta.k8s.io/__internal", "apps/v1", "apps/v9"],
  ["__internal", "apps/__internal", "example.com/v7", "example.com/__internal", "apiextensions.k8s.io/v1", ""],
].flat()
const none = [null, ""].flatMap((kind) => [null, "", "v1", "/"].map((apiVersion) => ({ kind, apiVersion })))

export function claimedKindCases(): Scenario[] {
  return [
    ...kinds.map((kind) =>
      claims(
        `bodies claim to be a ${kind}`,
        versions.map((apiVersion) => ({ kind, apiVersion })),
      ),
    ),
    claims("bodies claim to be nothing", none),
  ]
}

function claims(name: string, bodies: readonly object[]): Scenario {
  return { name, steps: bodies.flatMap((body) => targets.map((target) => target(JSON.stringify(body)))) }
}
