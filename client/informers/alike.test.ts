import { expect, test } from "vitest"
import type { ClusterRole } from "../../apimachinery/object.ts"
import { Alike } from "./alike.ts"

function role(uid: string, resourceVersion: string, verb = "get"): ClusterRole {
  return Object.freeze({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: Object.freeze({ name: "view", uid, resourceVersion, labels: { a: "b" } }),
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: [verb] }],
  })
}

test("initial objects of two tenants share memory, and each keeps its own fields", () => {
  const alike = new Alike<ClusterRole>()
  const first = alike.share(role("1", "1"))
  const second = alike.share(role("2", "1"))
  expect(second).toEqual(role("2", "1"))
  expect(second.rules).toBe(first.rules)
  expect(second.metadata.labels).toBe(first.metadata.labels)
  expect(first).toEqual(role("1", "1"))
  expect(Object.isFrozen(second) && Object.isFrozen(second.metadata)).toBe(true)
})

test("different fields are kept per object", () => {
  const alike = new Alike<ClusterRole>()
  alike.share(role("1", "1"))
  expect(alike.share(role("2", "1", "list"))).toEqual(role("2", "1", "list"))
})

test("objects written later are returned unchanged", () => {
  const alike = new Alike<ClusterRole>()
  alike.share(role("1", "1"))
  const written = role("2", "7")
  expect(alike.share(written)).toBe(written)
})
