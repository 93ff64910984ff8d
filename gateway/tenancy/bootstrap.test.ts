import { expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { createBootstrap } from "./bootstrap.ts"

const bootstrap = createBootstrap("PEM", ["10.96.0.0/16"])
const read = (uid: string, key: string): KubeObject =>
  JSON.parse(
    Buffer.from(bootstrap.layer({ uid, createdAt: "2026-01-02T03:04:05Z" }).value(key) ?? "").toString(),
  ) as KubeObject

test("keys are in byte order, and each has an object with a uid and the tenant's time", () => {
  const layer = bootstrap.layer({ uid: "a", createdAt: "2026-01-02T03:04:05Z" })
  const { keys } = layer
  expect([...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))).toEqual(keys)
  const uids = new Set<string>()
  for (const key of keys) {
    const { metadata } = JSON.parse(Buffer.from(layer.value(key) ?? "").toString()) as KubeObject
    expect(metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(metadata.creationTimestamp).toBe("2026-01-02T03:04:05Z")
    uids.add(metadata.uid ?? "")
  }
  expect(uids.size).toBe(keys.length)
})

test("uids are the same each time, and others in another tenant", () => {
  const key = "/registry/core/namespaces/default"
  expect(read("a", key)).toEqual(read("a", key))
  expect(read("a", key).metadata.uid).not.toBe(read("b", key).metadata.uid)
})

test("every namespace that is always there has its default account and the certificate authority", () => {
  for (const namespace of ["default", "kube-system", "kube-public", "kube-node-lease"]) {
    expect(read("a", `/registry/core/namespaces/${namespace}`)).toMatchObject({ status: { phase: "Active" } })
    expect(read("a", `/registry/core/serviceaccounts/${namespace}/default`).kind).toBe("ServiceAccount")
    expect(read("a", `/registry/core/configmaps/${namespace}/kube-root-ca.crt`)).toMatchObject({
      data: { "ca.crt": "PEM" },
    })
  }
})

test("legacy tokens are tracked since the day the tenant was made", () => {
  const key = "/registry/core/configmaps/kube-system/kube-apiserver-legacy-service-account-token-tracking"
  expect(read("a", key)).toMatchObject({ data: { since: "2026-01-02" } })
})

test("roles that gather others have their rules from the start", () => {
  const rules = (name: string) =>
    (read("a", `/registry/rbac.authorization.k8s.io/clusterroles/${name}`) as KubeObject & { rules: object[] }).rules
  expect(rules("view").length).toBeGreaterThan(3)
  expect(rules("admin").length).toBeGreaterThan(rules("edit").length)
  for (const rule of rules("view")) expect(rules("edit")).toContainEqual(rule)
})

test("what is said of objects has been so since the tenant was made", () => {
  const key = "/registry/flowcontrol.apiserver.k8s.io/flowschemas/global-default"
  const condition = { type: "Dangling", status: "False", reason: "Found", lastTransitionTime: "2026-01-02T03:04:05Z" }
  expect(read("a", key)).toMatchObject({ status: { conditions: [condition] } })
})
