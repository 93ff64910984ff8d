import { describe, expect, test } from "vitest"
import { requestInfo } from "./request-info.ts"

const info = (method: string, url: string) => {
  const [path = "", query = ""] = url.split("?")
  return requestInfo(method, path, new URLSearchParams(query))
}

describe("requestInfo()", () => {
  test.each([
    ["GET", "/api/v1/namespaces", "list", "", "", "namespaces", "", ""],
    ["GET", "/api/v1/namespaces/other", "get", "", "other", "namespaces", "", "other"],
    ["GET", "/api/v1/namespaces/other/pods", "list", "", "other", "pods", "", ""],
    ["GET", "/api/v1/namespaces/other/pods/foo", "get", "", "other", "pods", "", "foo"],
    ["HEAD", "/api/v1/namespaces/other/pods/foo", "get", "", "other", "pods", "", "foo"],
    ["GET", "/api/v1/pods", "list", "", "", "pods", "", ""],
    ["POST", "/api/v1/namespaces/other/pods", "create", "", "other", "pods", "", ""],
    ["POST", "/api/v1/namespaces/other/pods/foo/binding", "create", "", "other", "pods", "binding", "foo"],
    ["PUT", "/api/v1/namespaces/other/finalize", "update", "", "other", "namespaces", "finalize", "other"],
    ["GET", "/api/v1/namespaces/other/status", "get", "", "other", "namespaces", "status", "other"],
    ["DELETE", "/api/v1/namespaces/other/pods/foo", "delete", "", "other", "pods", "", "foo"],
    ["DELETE", "/api/v1/namespaces/other/pods", "deletecollection", "", "other", "pods", "", ""],
    ["PATCH", "/apis/apps/v1/namespaces/a/deployments/b/scale", "patch", "apps", "a", "deployments", "scale", "b"],
    ["GET", "/apis/apps/v1/deployments?watch=true", "watch", "apps", "", "deployments", "", ""],
    ["GET", "/apis/apps/v1/deployments?watch", "watch", "apps", "", "deployments", "", ""],
    ["GET", "/apis/apps/v1/deployments?watch=0", "list", "apps", "", "deployments", "", ""],
    ["GET", "/api/v1/watch/namespaces/a/pods", "watch", "", "a", "pods", "", ""],
    ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Dweb", "list", "", "", "pods", "", "web"],
    ["GET", "/api/v1/pods?fieldSelector=metadata.name!%3Dweb", "list", "", "", "pods", "", ""],
    ["GET", "/api/v1/pods?watch=1&fieldSelector=metadata.name%3Dweb", "watch", "", "", "pods", "", "web"],
    // The comma is part of a value: this lists nearly all.
    ["GET", "/api/v1/secrets?fieldSelector=type!%3Da%5C,metadata.name%3Dweb", "list", "", "", "secrets", "", ""],
    ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Da%5C,b", "list", "", "", "pods", "", "a,b"],
    ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Dweb&limit=x", "list", "", "", "pods", "", ""],
    ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Dweb&labelSelector=a%3D%3D%3D", "list", "", "", "pods", "", ""],
    ["FOO", "/api/v1/pods", "", "", "", "pods", "", ""],
    [
      "GET",
      "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
      "get",
      "rbac.authorization.k8s.io",
      "",
      "clusterroles",
      "",
      "system:node",
    ],
  ])("%s %s is %s", (method, url, verb, group, namespace, resource, subresource, name) => {
    expect(info(method, url)).toMatchObject({
      isResourceRequest: true,
      verb,
      group,
      version: "v1",
      namespace,
      resource,
      subresource,
      name,
    })
  })

  test.each([
    ["GET", "/"],
    ["GET", "/api"],
    ["GET", "/api/v1"],
    ["GET", "/apis/apps"],
    ["GET", "/apis/apps/v1"],
    ["GET", "/healthz"],
    ["POST", "/other/v1/namespaces/x"],
  ])("%s %s names no resource", (method, path) => {
    expect(info(method, path)).toMatchObject({ isResourceRequest: false, verb: method.toLowerCase(), path })
  })

  test("the path after a proxy subresource is kept", () => {
    expect(info("GET", "/api/v1/nodes/n1/proxy/stats/summary")).toMatchObject({
      resource: "nodes",
      name: "n1",
      subresource: "proxy",
      rest: "stats/summary",
    })
  })

  test("a path that ends in a deprecated verb is rejected with 400", () => {
    expect(() => info("GET", "/api/v1/watch/")).toThrow("unable to determine kind and namespace")
    expect(() => info("GET", "/api/v%22'/watch")).toThrow("from url, /api/v%22'/watch")
    expect(() => info("GET", '/api/v"|%3c/watch')).toThrow("from url, /api/v%22%7C%3C/watch")
  })
})
