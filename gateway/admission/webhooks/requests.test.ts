// What webhooks are sent.

import { describe, expect, test } from "vitest"
import type { Loose } from "../../testing/kinds.ts"
import { jsonPatch, reviewed, type WebhookCall, type WebhookHandler } from "../../testing/webhook-server.ts"
import { configMaps, verdict, WebhookTenant } from "./testing/webhook-tenant.ts"

const hooks = WebhookTenant.open()

describe("a webhook's request", () => {
  test.each([
    ["//twice/", "/twice"],
    ["/", "/"],
  ])("to %s: has the path that client-go derives from it", async (given, asked) => {
    await hooks.configure("Validating", {
      clientConfig: { url: `${hooks.server.url}${given}`, caBundle: hooks.server.caBundle },
    })
    expect(await verdict(hooks.create())).toBe("accepted")
    expect(hooks.server.calls.map(({ path }) => path)).toEqual([`${asked}?timeout=10s`])
  })

  test("contains the object, the user and the options", async () => {
    await hooks.configure("Validating", {})
    const name = hooks.fresh()
    await hooks.call("POST", `${configMaps}?fieldManager=me&dryRun=All`, { metadata: { name }, data: { a: "b" } })
    const { path, headers, body } = hooks.server.calls[0] as WebhookCall
    expect(path).toBe("/0?timeout=10s")
    expect(headers["content-type"]).toBe("application/json")
    const gvk = { group: "", version: "v1", kind: "ConfigMap" }
    const gvr = { group: "", version: "v1", resource: "configmaps" }
    expect(body).toMatchObject({
      kind: "AdmissionReview",
      apiVersion: "admission.k8s.io/v1",
      request: {
        kind: gvk,
        resource: gvr,
        requestKind: gvk,
        requestResource: gvr,
        name,
        namespace: "default",
        operation: "CREATE",
        userInfo: { groups: expect.arrayContaining(["system:authenticated"]) },
        object: { kind: "ConfigMap", apiVersion: "v1", metadata: { name, namespace: "default" }, data: { a: "b" } },
        oldObject: null,
        dryRun: true,
        options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", dryRun: ["All"], fieldManager: "me" },
      },
    })
    expect(body["request"].uid).toMatch(/^[0-9a-f-]{36}$/)
  })

  test("contains both states of an update, and the last state of a delete", async () => {
    const name = hooks.fresh()
    await hooks.create(name)
    await hooks.configure("Validating", {})
    await hooks.call("PATCH", `${configMaps}/${name}`, { data: { a: "b" } }, "application/merge-patch+json")
    await hooks.call("DELETE", `${configMaps}/${name}?propagationPolicy=Orphan`)
    const [update, deletion] = hooks.server.calls.map(({ body }) => body["request"])
    expect(update).toMatchObject({
      operation: "UPDATE",
      object: { data: { a: "b" } },
      options: { kind: "UpdateOptions" },
    })
    expect(update.oldObject.data).toBeUndefined()
    expect(deletion).toMatchObject({
      operation: "DELETE",
      name,
      object: null,
      oldObject: { data: { a: "b" } },
      options: { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1", propagationPolicy: "Orphan" },
    })
  })

  test("contains the version of the rule if the client used another version", async () => {
    await hooks.configure("Validating", {
      rules: [{ operations: ["CREATE"], apiGroups: ["autoscaling"], apiVersions: ["v1"], resources: ["*"] }],
    })
    const spec = { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } }
    const metrics = [
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
    ]
    const path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    expect(
      await verdict(hooks.call("POST", path, { metadata: { name: hooks.fresh() }, spec: { ...spec, metrics } })),
    ).toBe("accepted")
    expect(hooks.server.calls[0]?.body["request"]).toMatchObject({
      kind: { group: "autoscaling", version: "v1", kind: "HorizontalPodAutoscaler" },
      resource: { version: "v1" },
      requestKind: { version: "v2" },
      object: { apiVersion: "autoscaling/v1", spec: { targetCPUUtilizationPercentage: 50 } },
    })
  })

  test("has the identity of a new object only after mutating webhooks", async () => {
    await hooks.configure("Mutating", {})
    await hooks.configure("Validating", {})
    await hooks.call("POST", configMaps, { metadata: { generateName: "c-" } })
    const [mutating, validating] = hooks.server.calls.map(({ body }) => body["request"])
    expect(mutating.name).toBeUndefined()
    expect(Object.keys(mutating.object.metadata).toSorted()).toEqual(["generateName", "managedFields", "namespace"])
    expect(validating.object.metadata).toMatchObject({ uid: expect.any(String), creationTimestamp: expect.any(String) })
    expect(validating.name).toMatch(/^c-.+/)
  })

  test("contains the zero values that Go prints", async () => {
    await hooks.configure("Mutating", {
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["replicationcontrollers"] }],
    })
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } }
    await hooks.call("POST", "/api/v1/namespaces/default/replicationcontrollers", {
      metadata: { name: hooks.fresh(), annotations: {} },
      spec: { selector: { a: "b" }, template },
    })
    const object = hooks.server.calls[0]?.body["request"].object as Loose
    expect(object).toMatchObject({ status: { replicas: 0 } })
    expect(object["metadata"]).not.toHaveProperty("annotations")
  })

  test("says how much time the caller has left", async () => {
    await hooks.configure("Validating", {})
    await hooks.call("POST", `${configMaps}?timeout=3s`, { metadata: { name: hooks.fresh() } })
    expect(hooks.server.calls.map(({ path }) => path)).toEqual(["/0?timeout=3s"])
  })

  test("of a create in a subresource contains the manager, and may be changed before the subresource checks it", async () => {
    const pods = "/api/v1/namespaces/default/pods"
    const name = hooks.fresh()
    await hooks.call("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } })
    await hooks.call("POST", pods, { metadata: { name }, spec: { containers: [{ name: "a", image: "b" }] } })
    hooks.answer = (given) => reviewed(given, jsonPatch({ op: "add", path: "/metadata/name", value: name }))
    await hooks.configure("Mutating", {
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods/binding"] }],
    })
    expect(await verdict(hooks.call("POST", `${pods}/${name}/binding`, { target: { kind: "Node", name: "n" } }))).toBe(
      "accepted",
    )
    expect(hooks.server.calls[0]?.body["request"].object.metadata.managedFields).toMatchObject([
      { subresource: "binding" },
    ])
  })

  test("is not sent for another version with matchPolicy Exact", async () => {
    await hooks.configure("Validating", {
      matchPolicy: "Exact",
      rules: [{ operations: ["CREATE"], apiGroups: ["autoscaling"], apiVersions: ["v1"], resources: ["*"] }],
    })
    const spec = { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } }
    const path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    expect(await verdict(hooks.call("POST", path, { metadata: { name: hooks.fresh() }, spec }))).toBe("accepted")
    expect(hooks.server.calls).toEqual([])
  })

  test("contains the options of a connection", async () => {
    hooks.answer = (given) => reviewed(given, { allowed: false, status: { message: "not today" } })
    await hooks.configure("Validating", {
      rules: [{ operations: ["CONNECT"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods/attach"] }],
    })
    await hooks.call("POST", "/api/v1/namespaces/default/pods", {
      metadata: { name: "attached" },
      spec: { containers: [{ name: "a", image: "b" }] },
    })
    expect(
      await verdict(hooks.call("POST", "/api/v1/namespaces/default/pods/attached/attach?stdin=true&container=a")),
    ).toBe('400 admission webhook "hook-0.example.com" denied the request: not today')
    expect(hooks.server.calls[0]?.body["request"]).toMatchObject({
      kind: { group: "", version: "v1", kind: "PodAttachOptions" },
      subResource: "attach",
      name: "attached",
      operation: "CONNECT",
      object: { kind: "PodAttachOptions", apiVersion: "v1", stdin: true, container: "a" },
      options: null,
    })
  })
})

test("webhooks are also called for kinds that are not stored", async () => {
  hooks.answer = (given) => reviewed(given, { allowed: false, status: { message: "ask nobody" } })
  const rules = [{ operations: ["CREATE"], apiGroups: ["authorization.k8s.io"], apiVersions: ["v1"], resources: ["*"] }]
  await hooks.configure("Validating", { rules })
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
  const body = { spec: { resourceAttributes: { verb: "get", resource: "pods" } } }
  expect(await verdict(hooks.call("POST", path, body))).toContain("ask nobody")
})

describe("a webhook that redirects", () => {
  const to =
    (code: number, location: string): WebhookHandler =>
    (given) =>
      given.path === "/there" ? reviewed(given, {}) : { code, headers: { location }, body: {} }

  test.each([307, 308])("with %s: gets the same request at the new location", async (code) => {
    hooks.answer = to(code, "/there")
    await hooks.configure("Validating", {})
    expect(await verdict(hooks.create())).toBe("accepted")
    const [first, second] = hooks.server.calls
    expect(second?.body).toEqual(first?.body)
    expect(second?.headers["referer"]).toBe(`${hooks.server.url}/0?timeout=10s`)
  })

  test.each([301, 302, 303])("with %s: gets a request without a body at the new location", async (code) => {
    hooks.answer = (given) =>
      given.path === "/there" ? { body: {} } : { code, headers: { location: "/there" }, body: {} }
    await hooks.configure("Validating", {})
    expect(await verdict(hooks.create())).toContain("webhook response was absent")
    expect(hooks.server.calls.map(({ path, body }) => [path, Object.keys(body).length > 0])).toEqual([
      ["/0?timeout=10s", true],
      ["/there", false],
    ])
  })

  test.each([
    ["/0", 'Post "/0": stopped after 10 redirects'],
    ["http://127.0.0.1/", 'Post "http://127.0.0.1/": unsupported protocol scheme "http"'],
  ])("to %s: fails", async (location, words) => {
    hooks.answer = to(307, location)
    await hooks.configure("Validating", {})
    expect(await verdict(hooks.create())).toContain(`failed to call webhook: ${words}`)
  })
})
