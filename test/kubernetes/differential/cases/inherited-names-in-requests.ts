// Names that every object of JavaScript inherits, in what is around objects: paths, queries, headers, and reviews.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, patch, post, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { dryRun, map, maps, names, one } from "./inherited-names.ts"

export function inheritedNameRequestCases(): Scenario[] {
  return [
    { name: "paths and queries have names that objects inherit", steps: requests() },
    { name: "reviews are about names that objects inherit", steps: reviews() },
  ]
}

function requests(): RequestStep[] {
  const options = ["dryRun", "fieldValidation", "propagationPolicy", "resourceVersionMatch", "resourceVersion", "limit"]
  const types = (name: string): Readonly<Record<string, string>>[] => [
    { accept: `application/${name}` },
    { accept: `application/json;as=${name}` },
    { accept: `application/json;as=Table;v=${name};g=meta.k8s.io` },
    { accept: `application/json;as=Table;v=v1;g=${name}` },
    { accept: `application/json;profile=${name}` },
  ]
  return [
    post(maps, map({}, "constructor")),
    post(maps, { ...(map() as object), kind: "constructor" }, { label: "POST kind" }),
    post(maps, { ...(map() as object), apiVersion: "__proto__" }, { label: "POST version" }),
    ...names.flatMap((name) => [
      get(`/${name}`),
      get(`/api/${name}`),
      get(`/api/v1/${name}`),
      get(`/apis/${name}`),
      get(`/apis/${name}/v1`),
      get(`/apis/apps/${name}`),
      get(`/apis/apps/v1/${name}`),
      get(`/apis/apps/v1/namespaces/@{ns}/${name}/a`),
      get(`/api/v1/namespaces/@{ns}/pods/a/${name}`),
      get(`${maps}/${name}`),
      get(`/openapi/v3/${name}`),
      get(`/healthz/${name}`),
      get(`${maps}?${name}=x`),
      get(`/livez?exclude=${name}`),
      ...options.map((option) => remove(`${maps}/none?${option}=${name}`)),
      ...types(name).map((headers) => get(maps, { headers, label: `GET ${Object.values(headers).join(" ")}` })),
      post(maps, "{}", { contentType: `application/${name}`, label: `POST application/${name}` }),
      patch(`${maps}/constructor`, `application/${name}`, "{}", { label: `PATCH application/${name}` }),
      remove(`${maps}/none`, { propagationPolicy: name }, { label: `DELETE ${name}` }),
      remove(`${maps}/none`, one(name, { a: 1 }), { label: `DELETE with ${name}` }),
    ]),
    remove(`${maps}/constructor`),
  ]
}

function reviews(): RequestStep[] {
  const review = (name: string, spec: object): RequestStep =>
    post("/apis/authorization.k8s.io/v1/subjectaccessreviews", { spec } as Json, { label: `review ${name}` })
  return names.flatMap((name) => [
    review(`resource ${name}`, { user: name, resourceAttributes: { verb: name, group: name, resource: name, name } }),
    review(`extra ${name}`, {
      user: name,
      groups: [name],
      extra: one(name, ["x"]),
      nonResourceAttributes: { path: `/${name}` },
    }),
    post(
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      {},
      { as: { name, groups: [name] }, label: `as ${name}` },
    ),
    post(
      "/apis/authentication.k8s.io/v1/tokenreviews",
      { spec: { token: name, audiences: [name] } },
      { label: `token ${name}` },
    ),
    post(
      `/apis/rbac.authorization.k8s.io/v1/namespaces/@{ns}/roles${dryRun}`,
      {
        metadata: { name: "a" },
        rules: [{ verbs: [name], apiGroups: [name], resources: [name], resourceNames: [name] }],
      },
      { label: `role ${name}` },
    ),
  ])
}
