import { describe, expect, test } from "vitest"
import { route } from "./routes.ts"

describe("route()", () => {
  test.each([
    [
      "GET",
      "/containerLogs/ns/web/main?follow=true",
      {
        action: "containerLogs",
        upgrade: false,
        namespace: "ns",
        pod: "web",
        container: "main",
        query: "?follow=true",
      },
    ],
    [
      "POST",
      "/exec/ns/web/main?command=ls",
      { action: "exec", upgrade: true, namespace: "ns", pod: "web", container: "main", query: "?command=ls" },
    ],
    [
      "GET",
      "/exec/ns/web/0a1b-2c/main",
      { action: "exec", upgrade: true, namespace: "ns", pod: "web", uid: "0a1b-2c", container: "main", query: "" },
    ],
    [
      "GET",
      "/attach/ns/web.0/main",
      { action: "attach", upgrade: true, namespace: "ns", pod: "web.0", container: "main", query: "" },
    ],
    ["POST", "/portForward/ns/web", { action: "portForward", upgrade: true, namespace: "ns", pod: "web", query: "" }],
    [
      "POST",
      "/portForward/ns/web/0a1b",
      { action: "portForward", upgrade: true, namespace: "ns", pod: "web", uid: "0a1b", query: "" },
    ],
  ])("%s %s", (method, url, expected) => {
    expect(route(method, url)).toEqual(expected)
  })

  test.each([
    ["GET", "/"],
    ["GET", ""],
    ["GET", "/pods"],
    ["GET", "/pods/"],
    ["GET", "/runningpods/"],
    ["GET", "/logs/"],
    ["GET", "/logs/kubelet.log"],
    ["GET", "/metrics"],
    ["GET", "/metrics/cadvisor"],
    ["GET", "/stats/summary"],
    ["GET", "/configz"],
    ["GET", "/debug/pprof/"],
    ["GET", "/checkpoint/ns/web/main"],
    ["POST", "/run/ns/web/main"],
    ["POST", "/containerLogs/ns/web/main"],
    ["DELETE", "/exec/ns/web/main"],
    ["CONNECT", "/exec/ns/web/main"],
    ["GET", "/containerLogs/ns/web"],
    ["GET", "/containerLogs/ns/web/main/"],
    ["GET", "/containerLogs/ns/web/main/more"],
    ["GET", "/containerLogs//web/main"],
    ["GET", "//containerLogs/ns/web/main"],
    ["GET", "/containerLogs/ns/../main"],
    ["GET", "/containerLogs/ns/%2e%2e/main"],
    ["GET", "/containerLogs/ns/..%2fother/main"],
    ["GET", "/containerLogs/ns%2fweb/main"],
    ["GET", "/containerLogs/./web/main"],
    ["GET", "/containerLogs/ns/web/main%00"],
    ["GET", "/containerLogs/ns/web/main;x=y"],
    ["GET", "/containerLogs/ns/WEB/main"],
    ["GET", "/containerLogs/ns/web\\..\\x/main"],
    ["GET", "/containerLogs/ns/web/main#fragment"],
    ["GET", `/containerLogs/ns/${"a".repeat(254)}/main`],
    ["GET", "/constructor/ns/web/main"],
    ["GET", "https://elsewhere/containerLogs/ns/web/main"],
  ])("serves no %s %s", (method, url) => {
    expect(route(method, url)).toBeUndefined()
  })
})
