import { describe, expect, test } from "vitest"
import { namedTenant } from "./named-tenant.ts"

describe("namedTenant()", () => {
  test.each([
    ["/tenants/a/api/v1/pods", undefined, undefined, "a", "/api/v1/pods"],
    ["/tenants/a", undefined, undefined, "a", "/"],
    ["/tenants/a/", undefined, undefined, "a", "/"],
    ["/tenants//api", undefined, undefined, "", "/api"],
    ["/api", "a.example.com:6443", undefined, "a", "/api"],
    ["/api", "A.Example.com", undefined, "a", "/api"],
    ["/api", "127.0.0.1:6443", "a.example.com", "a", "/api"],
    ["/api", "kubernetes.default.svc", undefined, undefined, "/api"],
    ["/api", "a.b.example.com", undefined, undefined, "/api"],
    ["/api", "example.com", undefined, undefined, "/api"],
    ["/api", "aexample.com", undefined, undefined, "/api"],
    ["/tenants/a/api", "a.example.com", "a.example.com", "a", "/api"],
  ])("%s at %s names %s", (path, host, serverName, name, rest) => {
    expect(namedTenant(path, host, serverName, "example.com")).toEqual({ name, contradictory: false, path: rest })
  })

  test.each([
    ["/tenants/a/api", "b.example.com", undefined],
    ["/api", "a.example.com", "b.example.com"],
  ])("%s at %s and %s contradict each other", (path, host, serverName) => {
    expect(namedTenant(path, host, serverName, "example.com").contradictory).toBe(true)
  })

  test("hosts name no tenant without a domain", () => {
    expect(namedTenant("/api", "a.example.com", undefined, undefined).name).toBeUndefined()
  })
})
