import { expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { storedHead } from "../registry/generic/storage/stored-form.ts"
import { bornObject, StoredText, StoredValue } from "../registry/generic/storage/stored-value.ts"
import { createBootstrap, type Owner } from "./bootstrap.ts"

const bootstrap = createBootstrap("PEM", ["10.96.0.0/16"])
const owner: Owner = { uid: "a", createdAt: "2026-01-02T03:04:05Z" }
const read = (uid: string, key: string): KubeObject =>
  JSON.parse(
    Buffer.from(bootstrap.layer({ uid, createdAt: "2026-01-02T03:04:05Z" }).value(key) ?? "").toString(),
  ) as KubeObject

test("keys are sorted by bytes, and each object has a uid and the tenant's creation time", () => {
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

test("uids are constant for a tenant, and differ between tenants", () => {
  const key = "/registry/core/namespaces/default"
  expect(read("a", key)).toEqual(read("a", key))
  expect(read("a", key).metadata.uid).not.toBe(read("b", key).metadata.uid)
})

test("every initial namespace has its default account and the certificate authority", () => {
  for (const namespace of ["default", "kube-system", "kube-public", "kube-node-lease"]) {
    expect(read("a", `/registry/core/namespaces/${namespace}`)).toMatchObject({ status: { phase: "Active" } })
    expect(read("a", `/registry/core/serviceaccounts/${namespace}/default`).kind).toBe("ServiceAccount")
    expect(read("a", `/registry/core/configmaps/${namespace}/kube-root-ca.crt`)).toMatchObject({
      data: { "ca.crt": "PEM" },
    })
  }
})

test("legacy tokens are tracked since the creation of the tenant", () => {
  const key = "/registry/core/configmaps/kube-system/kube-apiserver-legacy-service-account-token-tracking"
  expect(read("a", key)).toMatchObject({ data: { since: "2026-01-02" } })
})

test("aggregated roles have their rules from the start", () => {
  const rules = (name: string) =>
    (read("a", `/registry/rbac.authorization.k8s.io/clusterroles/${name}`) as KubeObject & { rules: object[] }).rules
  expect(rules("view").length).toBeGreaterThan(3)
  expect(rules("admin").length).toBeGreaterThan(rules("edit").length)
  for (const rule of rules("view")) expect(rules("edit")).toContainEqual(rule)
})

test("conditions have the tenant's creation time", () => {
  const key = "/registry/flowcontrol.apiserver.k8s.io/flowschemas/global-default"
  const condition = { type: "Dangling", status: "False", reason: "Found", lastTransitionTime: "2026-01-02T03:04:05Z" }
  expect(read("a", key)).toMatchObject({ status: { conditions: [condition] } })
})

test("fields have the managers that they have in a new cluster", () => {
  const managersOf = (key: string): unknown => read("a", key).metadata.managedFields
  const time = "2026-01-02T03:04:05Z"
  const written = (manager: string, apiVersion: string, fieldsV1: object) => {
    return { manager, operation: "Update", apiVersion, time, fieldsType: "FieldsV1", fieldsV1 }
  }
  expect(managersOf("/registry/core/serviceaccounts/default/default")).toBeUndefined()
  expect(managersOf("/registry/core/configmaps/default/kube-root-ca.crt")).toEqual([
    written("kube-controller-manager", "v1", {
      "f:data": { ".": {}, "f:ca.crt": {} },
      "f:metadata": { "f:annotations": { ".": {}, "f:kubernetes.io/description": {} } },
    }),
  ])
  const apiVersion = "rbac.authorization.k8s.io/v1"
  expect(managersOf("/registry/rbac.authorization.k8s.io/clusterroles/admin")).toEqual([
    { ...written("clusterrole-aggregation-controller", apiVersion, { "f:rules": {} }), operation: "Apply" },
    written("kube-apiserver", apiVersion, {
      "f:aggregationRule": { ".": {}, "f:clusterRoleSelectors": {} },
      "f:metadata": {
        "f:annotations": { ".": {}, "f:rbac.authorization.kubernetes.io/autoupdate": {} },
        "f:labels": { ".": {}, "f:kubernetes.io/bootstrapping": {} },
      },
    }),
  ])
})

test("data available without the bytes equals the parsed bytes", () => {
  const layer = bootstrap.layer(owner)
  let known = 0
  for (const key of layer.keys) {
    const value = layer.value(key) ?? new Uint8Array()
    const plain = new StoredText({ value }, 1)
    const text = new StoredText({ value, known: layer.known?.(key) }, 1)
    if (text.born === undefined) continue
    known++
    const { kind, apiVersion } = new StoredValue(plain).object()
    const head = storedHead(kind ?? "", apiVersion ?? "")
    expect(JSON.stringify(new StoredValue(text).object())).toBe(JSON.stringify(new StoredValue(plain).object()))
    expect(new StoredValue(text).copy()).toEqual(new StoredValue(plain).copy())
    expect(Buffer.from(new StoredValue(text).bytes())).toEqual(Buffer.from(new StoredValue(plain).bytes()))
    expect([text.labels(), text.beginsWith(head)]).toEqual([plain.labels(), true])
    expect(text.beginsWith(storedHead(`${kind}s`, apiVersion ?? ""))).toBe(false)
    for (const word of ["kubernetes", '"rules":', '"finalizers"', "no such word"])
      expect(text.born.mentions([Buffer.from(word)])).toBe(Buffer.from(value).includes(word))
  }
  expect(known).toBeGreaterThan(150)
})

interface ClusterRole extends KubeObject {
  rules: object[]
}

test("initial objects are shared by all tenants and immutable", () => {
  const object = (of: Owner): ClusterRole => {
    const layer = bootstrap.layer(of)
    const key = layer.keys.find((one) => one.endsWith("/clusterroles/admin")) ?? ""
    return bornObject({ known: layer.known?.(key) })?.object() as ClusterRole
  }
  const [one, other] = [object(owner), object({ ...owner, uid: "another" })]
  expect(one.metadata.uid).not.toBe(other.metadata.uid)
  expect(one.rules).toBe(other.rules)
  expect([one, one.metadata, one.rules].every((part) => Object.isFrozen(part))).toBe(true)
})
