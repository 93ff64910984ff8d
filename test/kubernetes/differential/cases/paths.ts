// Paths that are not quite what they should be, with every method: slashes, dots, escapes, steps too many or too few.

import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, post, type RequestStep, type Scenario } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const maps = `${core}/configmaps`
const map: Json = { metadata: { name: "a" } }

const ofObjects = [
  ["/", "//", "//a", "/a/", "/%61", "/a%25", "/%25", "/a%2f", "/%2e", "/%2e%2e", "/.", "/..", "/...", "/a%20", "/%20"],
  ["/%C3%A4", "/a;b=c", "/a?", "/a?&", "/a?=", "/a??", "/a?;", "/a?a;b", "/a?a=%zz", "/a+b", "/a*", "/~", "/-", "/A"],
  ["?limit=%zz", "?limit=1;x", "?limit=x&limit=1", "?limit=x;", "/a/status", "/a/x/y/z"],
]
  .flat()
  .map((end) => maps + end)

const ofServers = [
  [
    "/api/",
    "/api//",
    "/api/v1/",
    "/api/v1//",
    "/api/v2",
    "/api/v2/x",
    "/api/v9/",
    "/api/V1",
    "/API/v1",
    "/api/apps/v1",
  ],
  ["/apis//", "/apis/apps", "/apis/apps/", "/apis/apps//", "/apis/apps/v1/", "/apis/apps/v1//", "/apis/apps/v9"],
  [
    "/apis/apps/v1/x/",
    "/apis/nope",
    "/apis/nope/",
    "/apis/nope/v1",
    "/apis/nope/v1/x",
    "/apis/v1",
    "/apis/v1/configmaps",
  ],
  ["/api/v1/watch/nope", "/api/v1/proxy/nodes/x"],
  ["/api/v1/watch/namespaces/@{ns}/pods/a/status", "/apis/apps/v1/watch/namespaces/@{ns}/deployments/a/scale"],
  [
    "/version//x",
    "/versionx",
    "/version/x",
    "/healthz/",
    "/healthz/ping/",
    "/livez/ping/x",
    "/metrics/x",
    "/openapi",
    "/openapi/",
    "/openapi/v3/x",
  ],
  ["/.well-known/openid-configuration/x", "/.well-known/x", "/openid/v1/jwks/x", "/openid/v1/x"],
  ["/.well-known", "/openid", "/logs", "/index.html/", "/swagger.json", "/ui", "/favicon.ico"],
  [
    "/api/v1/nodes/..",
    "/api/v1/namespaces/..",
    `${core}/a`,
    `${core}/nope/x/y`,
    `${core}/finalize/x`,
    `${core}/status/x`,
  ],
  ["//api/v1/nodes"],
].flat()

export function pathCases(): Scenario[] {
  return ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"].map((method) => ({
    name: `odd paths are answered to ${method}`,
    steps: [post(maps, map), ...[...ofObjects, ...ofServers].map((path) => step(method, path))],
  }))
}

function step(method: string, path: string): RequestStep {
  const request = { method, path, label: `${method} ${path}` }
  if (method === "PATCH") return { ...request, body: {}, contentType: mergePatch }
  return method === "POST" || method === "PUT" ? { ...request, body: map } : request
}
