import { describe, expect, test } from "vitest"
import type { Pod } from "../apimachinery/object.ts"
import { clusterAnnotation, namespaceAnnotation, uidAnnotation } from "../apimachinery/tenancy.ts"
import type { RoutedRequest } from "./routes.ts"
import { apiServerPath, kubeletPath, refusal } from "./translate.ts"

const identity = { tenant: "a", clusterKey: "ns-123456-a" }
const request: RoutedRequest = {
  action: "exec",
  upgrade: true,
  namespace: "shop",
  pod: "web",
  container: "main",
  query: "",
}
const marks = { [clusterAnnotation]: identity.clusterKey, [namespaceAnnotation]: "shop", [uidAnnotation]: "tenant-uid" }

const podWith = (annotations: Record<string, string> | undefined, spec: object = {}): Pod =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      nodeName: "node-1",
      containers: [{ name: "main" }],
      initContainers: [{ name: "setup" }],
      ephemeralContainers: [{ name: "debug" }],
      ...spec,
    },
  }) as Pod

describe("refusal()", () => {
  test.each<[string, Pod, Partial<RoutedRequest>, string | undefined]>([
    ["its own pod", podWith(marks), {}, undefined],
    ["an init container", podWith(marks), { container: "setup" }, undefined],
    ["an ephemeral container", podWith(marks), { container: "debug" }, undefined],
    ["the pod of that uid", podWith(marks), { uid: "tenant-uid" }, undefined],
    ["another tenant's", podWith({ ...marks, [clusterAnnotation]: "ns-654321-b" }), {}, "it belongs to somebody else"],
    [
      "one whose key has the same prefix",
      podWith({ ...marks, [clusterAnnotation]: "ns-123456-ab" }),
      {},
      "it belongs to somebody else",
    ],
    ["one of the super cluster", podWith(undefined), {}, "it belongs to somebody else"],
    [
      "another namespace's",
      podWith({ ...marks, [namespaceAnnotation]: "other" }),
      {},
      "it belongs to another namespace",
    ],
    ["another pod of the name", podWith(marks), { uid: "older-uid" }, "it is another pod of that name"],
    ["one on another node", podWith(marks, { nodeName: "node-2" }), {}, "it runs on another node"],
    ["one without a node", podWith(marks, { nodeName: undefined }), {}, "it runs on another node"],
    ["an unknown container", podWith(marks), { container: "other" }, "it has no such container"],
  ])("of %s", (_what, pod, more, expected) => {
    expect(refusal(identity, { ...request, ...more }, pod, "node-1")).toBe(expected)
  })
})

describe("kubeletPath()", () => {
  test.each<[string, Partial<RoutedRequest>, string]>([
    ["the super cluster's namespace", {}, "/exec/ns-123456-a-shop/web/main"],
    ["no uid, which is the tenant's", { uid: "tenant-uid" }, "/exec/ns-123456-a-shop/web/main"],
    [
      "every word of a command",
      { query: "?command=sh&command=-c&command=a%26b%20c" },
      "/exec/ns-123456-a-shop/web/main?command=sh&command=-c&command=a%26b+c",
    ],
    ["known parameters only", { query: "?tty=1&namespace=other&uid=x" }, "/exec/ns-123456-a-shop/web/main?tty=1"],
    [
      "no container for a port-forward",
      { action: "portForward", container: undefined as never, query: "?port=80" },
      "/portForward/ns-123456-a-shop/web?port=80",
    ],
    [
      "a query that cannot change the path",
      { query: "?command=/../../pods#x" },
      "/exec/ns-123456-a-shop/web/main?command=%2F..%2F..%2Fpods%23x",
    ],
  ])("has %s", (_what, more, expected) => {
    expect(kubeletPath(identity, { ...request, ...more })).toBe(expected)
  })
})

describe("apiServerPath()", () => {
  const pod = "/api/v1/namespaces/ns-123456-a-shop/pods/web"
  test.each<[string, Partial<RoutedRequest>, string]>([
    [
      "the flags of an exec",
      { query: "?command=cat&input=1&output=1&error=1&tty=1" },
      `${pod}/exec?container=main&command=cat&stdin=true&stdout=true&stderr=true&tty=true`,
    ],
    [
      "no flag that is off",
      { query: "?command=cat&output=1&tty=0" },
      `${pod}/exec?container=main&command=cat&stdout=true`,
    ],
    ["an argument of a command unchanged", { query: "?command=1" }, `${pod}/exec?container=main&command=1`],
    [
      "the parameters of a log",
      { action: "containerLogs", query: "?follow=true&tailLines=1&namespace=other" },
      `${pod}/log?container=main&follow=true&tailLines=1`,
    ],
    [
      "the ports of a port-forward",
      { action: "portForward", container: undefined as never, query: "?port=80&port=81" },
      `${pod}/portforward?ports=80&ports=81`,
    ],
  ])("has %s", (_what, more, expected) => {
    expect(apiServerPath(identity, { ...request, ...more })).toBe(expected)
  })
})
