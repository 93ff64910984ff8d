// Discovery in both forms, health, and paths that do not exist.

import { builtInResources } from "../../../../apimachinery/schema/facts.ts"
import { get, post, type RequestStep, type Scenario } from "../scenario.ts"

const aggregated = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" }
const aggregatedOld = { accept: "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList" }

export function discoveryCases(): Scenario[] {
  const groups = [...new Set(builtInResources().map(({ group }) => group))].filter(Boolean)
  const versions = [...new Set(builtInResources().map(({ group, version }) => `${group}/${version}`))].filter(
    (version) => !version.startsWith("/"),
  )
  return [
    {
      name: "discovery lists every group",
      steps: [
        get("/api"),
        get("/apis"),
        get("/api/v1"),
        get("/apis/"),
        get("/api/"),
        get("/apis/absent"),
        get("/apis/absent/v1"),
        get("/apis/apps/v9"),
        get("/api/v2"),
        get("/api", { headers: { accept: "application/yaml" }, label: "GET /api yaml" }),
        get("/apis", { headers: { accept: "text/plain" }, label: "GET /apis text" }),
        post("/apis", {}),
      ],
    },
    { name: "discovery of each group's versions", steps: groups.map((group) => get(`/apis/${group}`)) },
    ...versions.map((version) => ({
      name: `discovery of the resources of ${version}`,
      steps: [get(`/apis/${version}`)],
    })),
    {
      name: "aggregated discovery",
      steps: ["/api", "/apis"].flatMap((path) => [
        get(path, { headers: aggregated, label: `GET ${path} aggregated` }),
        get(path, { headers: aggregatedOld, label: `GET ${path} aggregated v2beta1` }),
        get(path, {
          headers: { accept: `${aggregated.accept},${aggregatedOld.accept},application/json` },
          label: `GET ${path} as kubectl`,
        }),
      ]),
    },
    { name: "discovery is asked for in every form", steps: forms() },
    { name: "health of the server", steps: health() },
    { name: "paths that are nothing are not found", steps: nothing() },
  ]
}

function forms(): RequestStep[] {
  const kind = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
  const types = ["json", "yaml", "vnd.kubernetes.protobuf", "*"].map((type) => `application/${type}`)
  const more = ["profile=nopeer", "profile=x", "sv=v1", "stream=watch", "stream=x", "pretty=1", "x=y"]
  const accepts = [
    ...[...types, "*/*", "text/html"].map((type) => `${type};${kind}`),
    ...more.map((parameter) => `${aggregated.accept};${parameter}`),
    `application/yaml;${kind};stream=watch`,
    `${aggregated.accept},application/json`,
    `application/json,${aggregated.accept}`,
    `application/json;q=0.5;${kind},application/yaml`,
    aggregated.accept.replace("v=v2", "v=v3"),
    "application/json;as=APIGroupDiscoveryList",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    "text/html",
    "",
  ]
  const paths = ["/api", "/api/", "/apis", "/apis/", "/apis/apps", "/apis/apps/", "/apis/apps/v1", "/api/v1"]
  return paths.flatMap((path) =>
    accepts.map((accept) => get(path, { headers: { accept }, label: `GET ${path} as ${accept}` })),
  )
}

function health(): RequestStep[] {
  return ["livez", "readyz", "healthz"].flatMap((path) => [
    get(`/${path}`),
    get(`/${path}/ping`),
    get(`/${path}/etcd`),
    get(`/${path}/absent`),
    get(`/${path}?exclude=ping&exclude=absent`),
    get(`/${path}?verbose&exclude=b&exclude=a&exclude=b`),
    get(`/${path}?verbose&exclude=%7f&exclude=`),
    post(`/${path}`, {}),
  ])
}

function nothing(): RequestStep[] {
  const paths = [
    "/bogus",
    "/api/bogus",
    "/api/v1/bogus",
    "/api/v1/namespaces/@{ns}/bogus",
    "/api/v1/namespaces/@{ns}/bogus/x",
    "/api/v1/namespaces/@{ns}/pods/x/bogus",
    "/apis/apps/v1/bogus",
    "/apis/apps/v1/namespaces/@{ns}/deployments/x/scale/more",
    "/apis/bogus.example.com/v1/things",
    "/api/v1/pods/x",
    "/api/v1/namespaces/@{ns}/nodes",
    "/api/v1/namespaces/@{ns}/nodes/x",
    "/openapi/v3/apis/absent/v1",
    "/openapi/v4",
    "/version/x",
    "//api/v1",
    "/api/v1//pods",
    "/api/v1/namespaces//pods",
    "/api/v1/namespaces/@{ns}/configmaps/",
    "/api/v1/namespaces/@{ns}/configmaps/%00",
    "/api/v1/namespaces/@{ns}/configmaps/a/b/c",
    "/apis/apps/v1/watch/deployments/x/y",
    "/.well-known/openid-configuration",
  ]
  return paths.map((path) => get(path))
}
