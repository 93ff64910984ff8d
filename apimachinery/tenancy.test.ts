import { describe, expect, test } from "vitest"
import { clusterKey, isTenancyKey, superNamespace } from "./tenancy.ts"

describe("clusterKey()", () => {
  test.each([
    ["ns", "name", "d64ea0c0-91f8-46f5-8643-c0cab32ab0cd", "ns-fd1b34-name"],
    ["tenant-1", "test", "7374a172-c35d-45b1-9c8e-bf5c5b614937", "tenant-1-70b001-test"],
  ])("of %s/%s is that of the ancestor", (namespace, name, uid, expected) => {
    expect(clusterKey({ namespace, name, uid })).toBe(expected)
  })
})

describe("superNamespace()", () => {
  const key = "tenant-1-70b001-test"
  test.each([
    ["default", `${key}-default`],
    ["a".repeat(42), `${key}-${"a".repeat(42)}`],
    ["a".repeat(43), `${key}-${"a".repeat(36)}-26e1c`],
    ["a-very-long-namespace-name-used-by-a-tenant-for-tests-0001", `${key}-a-very-long-namespace-name-used-by-a-7fa87`],
    [`${"a".repeat(35)}.of.a.runtime.class`, `${key}-${"a".repeat(35)}--be8f6`],
  ])("maps %s like the ancestor, in at most 63 bytes", (namespace, expected) => {
    expect(superNamespace(key, namespace)).toBe(expected)
    expect(expected.length).toBeLessThanOrEqual(63)
  })
})

test.each([
  ["tenancy.x-k8s.io/uid", true],
  ["tenancy.x-k8s.io", true],
  ["transparency.tenancy.x-k8s.io/clusterIP", true],
  ["app.kubernetes.io/name", false],
])("isTenancyKey(%s) is %s", (key, expected) => {
  expect(isTenancyKey(key)).toBe(expected)
})
