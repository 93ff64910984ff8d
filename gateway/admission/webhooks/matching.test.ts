// Which webhooks are called for a request.

import { describe, expect, test } from "vitest"
import type { Loose } from "../../testing/kinds.ts"
import { reviewed } from "../../testing/webhook-server.ts"
import { configMaps, configurations, verdict, WebhookTenant } from "./testing/webhook-tenant.ts"

const hooks = WebhookTenant.open()

describe("matching of webhooks", () => {
  test.each<[string, Loose, number]>([
    [
      "an operation that does not match",
      { rules: [{ operations: ["UPDATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["*"] }] },
      0,
    ],
    [
      "a scope that does not match",
      { rules: [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], scope: "Cluster" }] },
      0,
    ],
    [
      "a scope that matches",
      { rules: [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], scope: "Namespaced" }] },
      1,
    ],
    [
      "a rule for subresources of the resource",
      { rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps/*"] }] },
      1,
    ],
    [
      "a namespace that matches",
      { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "default" } } },
      1,
    ],
    ["a namespace that does not", { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "x" } } }, 0],
    ["an object that matches", { objectSelector: { matchExpressions: [{ key: "color", operator: "Exists" }] } }, 1],
    ["an object that does not", { objectSelector: { matchLabels: { color: "blue" } } }, 0],
  ])("%s", async (_, webhook, calls) => {
    await hooks.configure("Validating", webhook)
    await hooks.create(hooks.fresh(), { metadata: { name: hooks.fresh(), labels: { color: "red" } } })
    expect(hooks.server.calls.length).toBe(calls)
  })

  test.each<[string, string, number]>([
    ["conditions that hold", "object.metadata.name != 'skip-me' && request.operation == 'CREATE'", 1],
    ["a condition that does not", "request.userInfo.username == 'nobody'", 0],
  ])("%s", async (_, expression, calls) => {
    await hooks.configure("Validating", {
      matchConditions: [
        { name: "first", expression: "true" },
        { name: "c", expression },
      ],
    })
    expect(await verdict(hooks.create())).toBe("accepted")
    expect(hooks.server.calls.length).toBe(calls)
  })

  test("conditions see the object in the version of the rule", async () => {
    await hooks.configure("Validating", {
      rules: [{ operations: ["CREATE"], apiGroups: ["autoscaling"], apiVersions: ["v1"], resources: ["*"] }],
      matchConditions: [
        { name: "a", expression: "object.apiVersion == 'autoscaling/v1' && request.kind.version == 'v1'" },
        { name: "b", expression: "request.resource.version == 'v2' && request.requestKind.version == 'v2'" },
      ],
    })
    const spec = { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } }
    const path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    expect(await verdict(hooks.call("POST", path, { metadata: { name: hooks.fresh() }, spec }))).toBe("accepted")
    expect(hooks.server.calls.length).toBe(1)
  })

  test("a namespace whose name is generated is selected by its labels", async () => {
    await hooks.configure("Validating", {
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["namespaces"] }],
      namespaceSelector: { matchLabels: { color: "red" } },
    })
    for (const color of ["red", "blue"]) {
      await hooks.call("POST", "/api/v1/namespaces", { metadata: { generateName: "n-", labels: { color } } })
    }
    expect(hooks.server.calls.map(({ body }) => body["request"].object.metadata.labels.color)).toEqual(["red"])
  })

  test("a condition that cannot be evaluated rejects the request unless failurePolicy is Ignore", async () => {
    const matchConditions = [{ name: "c", expression: "object.data.none == 'x'" }]
    await hooks.configure("Validating", { matchConditions, failurePolicy: "Ignore" })
    expect(await verdict(hooks.create())).toBe("accepted")
    await hooks.configure("Validating", { matchConditions })
    expect(await verdict(hooks.create())).toMatch(/^403 configmaps "c-\d+" is forbidden: .*no such key/)
    expect(hooks.server.calls).toEqual([])
  })

  test("webhook configurations are never subject to webhooks", async () => {
    hooks.answer = (given) => reviewed(given, { allowed: false })
    await hooks.configure("Validating", {
      rules: [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] }],
    })
    expect(await verdict(hooks.create())).toMatch(/denied the request without explanation/)
    expect(await verdict(hooks.call("DELETE", `${configurations}/validatingwebhookconfigurations`))).toBe("accepted")
    expect(await verdict(hooks.create())).toBe("accepted")
  })

  test("a webhook is not called for another tenant's writes", async () => {
    const b = await hooks.gateway.createTenant("b")
    hooks.answer = (given) => reviewed(given, { allowed: false })
    await hooks.configure("Validating", {})
    const body = { metadata: { name: hooks.fresh() } }
    const { code } = await hooks.gateway.request(`/tenants/b${configMaps}`, { ...b, method: "POST", body })
    expect(code).toBe(201)
    expect(hooks.server.calls).toEqual([])
  })
})
