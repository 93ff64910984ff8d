// Admission webhooks of a tenant, called over HTTPS by a whole gateway.

import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { localNetworks } from "../../backends/networks.ts"
import type { Loose } from "../../testing/kinds.ts"
import { type RawAnswer, startTestGateway, type TestGateway, type TestTenant } from "../../testing/start-gateway.ts"
import {
  jsonPatch,
  reviewed,
  type WebhookCall,
  type WebhookHandler,
  WebhookServer,
} from "../../testing/webhook-server.ts"

let gateway: TestGateway
let tenant: TestTenant
let server: WebhookServer
let answer: WebhookHandler
const entries: Loose[] = []

beforeAll(async () => {
  const audit = { info: (entry: Loose) => entries.push(entry) } as never
  gateway = await startTestGateway({ allowedNetworks: localNetworks, audit })
  tenant = await gateway.createTenant("a")
  server = await WebhookServer.start((call) => answer(call))
})

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

beforeEach(async () => {
  for (const kind of ["mutating", "validating"]) await call("DELETE", `${configurations}/${kind}webhookconfigurations`)
  answer = (given) => reviewed(given, {})
  server.calls.length = 0
})

const configurations = "/apis/admissionregistration.k8s.io/v1"
const configMaps = "/api/v1/namespaces/default/configmaps"

function call(method: string, path: string, body?: unknown, contentType = "application/json"): Promise<RawAnswer> {
  const headers = { "content-type": contentType }
  return gateway.request(`/tenants/a${path}`, { ...tenant, method, headers, ...(body === undefined ? {} : { body }) })
}

/** Status code and message, or "created". */
async function verdict(request: Promise<RawAnswer>): Promise<string> {
  const { code, json } = await request
  return code < 300 ? "accepted" : `${code} ${(json() as { message: string }).message}`
}

async function configure(kind: "Mutating" | "Validating", ...webhooks: Loose[]): Promise<void> {
  const whole = webhooks.map((webhook, index) => ({
    name: `hook-${index}.example.com`,
    clientConfig: { url: `${server.url}/${index}`, caBundle: server.caBundle },
    rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    ...webhook,
  }))
  const { code, text } = await call("POST", `${configurations}/${kind.toLowerCase()}webhookconfigurations`, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${kind}WebhookConfiguration`,
    metadata: { generateName: "c-" },
    webhooks: whole,
  })
  expect(text).toContain('"uid"')
  expect(code).toBe(201)
}

let last = 0
const fresh = (): string => `c-${++last}`
const create = (name = fresh(), more: Loose = {}): Promise<RawAnswer> =>
  call("POST", configMaps, { metadata: { name }, ...more })

describe("a webhook that redirects", () => {
  const to =
    (code: number, location: string): WebhookHandler =>
    (given) =>
      given.path === "/there" ? reviewed(given, {}) : { code, headers: { location }, body: {} }

  test.each([307, 308])("with %s: gets the same request at the new location", async (code) => {
    answer = to(code, "/there")
    await configure("Validating", {})
    expect(await verdict(create())).toBe("accepted")
    const [first, second] = server.calls
    expect(second?.body).toEqual(first?.body)
    expect(second?.headers["referer"]).toBe(`${server.url}/0?timeout=10s`)
  })

  test.each([301, 302, 303])("with %s: gets a request without a body at the new location", async (code) => {
    answer = (given) => (given.path === "/there" ? { body: {} } : { code, headers: { location: "/there" }, body: {} })
    await configure("Validating", {})
    expect(await verdict(create())).toContain("webhook response was absent")
    expect(server.calls.map(({ path, body }) => [path, Object.keys(body).length > 0])).toEqual([
      ["/0?timeout=10s", true],
      ["/there", false],
    ])
  })

  test.each([
    ["/0", 'Post "/0": stopped after 10 redirects'],
    ["http://127.0.0.1/", 'Post "http://127.0.0.1/": unsupported protocol scheme "http"'],
  ])("to %s: fails", async (location, words) => {
    answer = to(307, location)
    await configure("Validating", {})
    expect(await verdict(create())).toContain(`failed to call webhook: ${words}`)
  })
})

describe("a webhook's request", () => {
  test.each([
    ["//twice/", "/twice"],
    ["/", "/"],
  ])("to %s: has the path that client-go derives from it", async (given, asked) => {
    await configure("Validating", { clientConfig: { url: `${server.url}${given}`, caBundle: server.caBundle } })
    expect(await verdict(create())).toBe("accepted")
    expect(server.calls.map(({ path }) => path)).toEqual([`${asked}?timeout=10s`])
  })

  test("contains the object, the user and the options", async () => {
    await configure("Validating", {})
    const name = fresh()
    await call("POST", `${configMaps}?fieldManager=me&dryRun=All`, { metadata: { name }, data: { a: "b" } })
    const { path, headers, body } = server.calls[0] as WebhookCall
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
    const name = fresh()
    await create(name)
    await configure("Validating", {})
    await call("PATCH", `${configMaps}/${name}`, { data: { a: "b" } }, "application/merge-patch+json")
    await call("DELETE", `${configMaps}/${name}?propagationPolicy=Orphan`)
    const [update, deletion] = server.calls.map(({ body }) => body["request"])
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
    await configure("Validating", {
      rules: [{ operations: ["CREATE"], apiGroups: ["autoscaling"], apiVersions: ["v1"], resources: ["*"] }],
    })
    const spec = { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } }
    const metrics = [
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
    ]
    const path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    expect(await verdict(call("POST", path, { metadata: { name: fresh() }, spec: { ...spec, metrics } }))).toBe(
      "accepted",
    )
    expect(server.calls[0]?.body["request"]).toMatchObject({
      kind: { group: "autoscaling", version: "v1", kind: "HorizontalPodAutoscaler" },
      resource: { version: "v1" },
      requestKind: { version: "v2" },
      object: { apiVersion: "autoscaling/v1", spec: { targetCPUUtilizationPercentage: 50 } },
    })
  })

  test("has the identity of a new object only after mutating webhooks", async () => {
    await configure("Mutating", {})
    await configure("Validating", {})
    await call("POST", configMaps, { metadata: { generateName: "c-" } })
    const [mutating, validating] = server.calls.map(({ body }) => body["request"])
    expect(mutating.name).toBeUndefined()
    expect(Object.keys(mutating.object.metadata).toSorted()).toEqual(["generateName", "managedFields", "namespace"])
    expect(validating.object.metadata).toMatchObject({ uid: expect.any(String), creationTimestamp: expect.any(String) })
    expect(validating.name).toMatch(/^c-.+/)
  })

  test("contains the zero values that Go prints", async () => {
    await configure("Mutating", {
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["replicationcontrollers"] }],
    })
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } }
    await call("POST", "/api/v1/namespaces/default/replicationcontrollers", {
      metadata: { name: fresh(), annotations: {} },
      spec: { selector: { a: "b" }, template },
    })
    const object = server.calls[0]?.body["request"].object as Loose
    expect(object).toMatchObject({ status: { replicas: 0 } })
    expect(object["metadata"]).not.toHaveProperty("annotations")
  })

  test("says how much time the caller has left", async () => {
    await configure("Validating", {})
    await call("POST", `${configMaps}?timeout=3s`, { metadata: { name: fresh() } })
    expect(server.calls.map(({ path }) => path)).toEqual(["/0?timeout=3s"])
  })

  test("of a create in a subresource contains the manager, and may be changed before the subresource checks it", async () => {
    const pods = "/api/v1/namespaces/default/pods"
    const name = fresh()
    await call("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } })
    await call("POST", pods, { metadata: { name }, spec: { containers: [{ name: "a", image: "b" }] } })
    answer = (given) => reviewed(given, jsonPatch({ op: "add", path: "/metadata/name", value: name }))
    await configure("Mutating", {
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods/binding"] }],
    })
    expect(await verdict(call("POST", `${pods}/${name}/binding`, { target: { kind: "Node", name: "n" } }))).toBe(
      "accepted",
    )
    expect(server.calls[0]?.body["request"].object.metadata.managedFields).toMatchObject([{ subresource: "binding" }])
  })

  test("is not sent for another version with matchPolicy Exact", async () => {
    await configure("Validating", {
      matchPolicy: "Exact",
      rules: [{ operations: ["CREATE"], apiGroups: ["autoscaling"], apiVersions: ["v1"], resources: ["*"] }],
    })
    const spec = { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } }
    const path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    expect(await verdict(call("POST", path, { metadata: { name: fresh() }, spec }))).toBe("accepted")
    expect(server.calls).toEqual([])
  })

  test("contains the options of a connection", async () => {
    answer = (given) => reviewed(given, { allowed: false, status: { message: "not today" } })
    await configure("Validating", {
      rules: [{ operations: ["CONNECT"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods/attach"] }],
    })
    await call("POST", "/api/v1/namespaces/default/pods", {
      metadata: { name: "attached" },
      spec: { containers: [{ name: "a", image: "b" }] },
    })
    expect(await verdict(call("POST", "/api/v1/namespaces/default/pods/attached/attach?stdin=true&container=a"))).toBe(
      '400 admission webhook "hook-0.example.com" denied the request: not today',
    )
    expect(server.calls[0]?.body["request"]).toMatchObject({
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
  answer = (given) => reviewed(given, { allowed: false, status: { message: "ask nobody" } })
  const rules = [{ operations: ["CREATE"], apiGroups: ["authorization.k8s.io"], apiVersions: ["v1"], resources: ["*"] }]
  await configure("Validating", { rules })
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
  const body = { spec: { resourceAttributes: { verb: "get", resource: "pods" } } }
  expect(await verdict(call("POST", path, body))).toContain("ask nobody")
})

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
    await configure("Validating", webhook)
    await create(fresh(), { metadata: { name: fresh(), labels: { color: "red" } } })
    expect(server.calls.length).toBe(calls)
  })

  test.each<[string, string, number]>([
    ["conditions that hold", "object.metadata.name != 'skip-me' && request.operation == 'CREATE'", 1],
    ["a condition that does not", "request.userInfo.username == 'nobody'", 0],
  ])("%s", async (_, expression, calls) => {
    await configure("Validating", {
      matchConditions: [
        { name: "first", expression: "true" },
        { name: "c", expression },
      ],
    })
    expect(await verdict(create())).toBe("accepted")
    expect(server.calls.length).toBe(calls)
  })

  test("conditions see the object in the version of the rule", async () => {
    await configure("Validating", {
      rules: [{ operations: ["CREATE"], apiGroups: ["autoscaling"], apiVersions: ["v1"], resources: ["*"] }],
      matchConditions: [
        { name: "a", expression: "object.apiVersion == 'autoscaling/v1' && request.kind.version == 'v1'" },
        { name: "b", expression: "request.resource.version == 'v2' && request.requestKind.version == 'v2'" },
      ],
    })
    const spec = { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } }
    const path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    expect(await verdict(call("POST", path, { metadata: { name: fresh() }, spec }))).toBe("accepted")
    expect(server.calls.length).toBe(1)
  })

  test("a namespace whose name is generated is selected by its labels", async () => {
    await configure("Validating", {
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["namespaces"] }],
      namespaceSelector: { matchLabels: { color: "red" } },
    })
    for (const color of ["red", "blue"]) {
      await call("POST", "/api/v1/namespaces", { metadata: { generateName: "n-", labels: { color } } })
    }
    expect(server.calls.map(({ body }) => body["request"].object.metadata.labels.color)).toEqual(["red"])
  })

  test("a condition that cannot be evaluated rejects the request unless failurePolicy is Ignore", async () => {
    const matchConditions = [{ name: "c", expression: "object.data.none == 'x'" }]
    await configure("Validating", { matchConditions, failurePolicy: "Ignore" })
    expect(await verdict(create())).toBe("accepted")
    await configure("Validating", { matchConditions })
    expect(await verdict(create())).toMatch(/^403 configmaps "c-\d+" is forbidden: .*no such key/)
    expect(server.calls).toEqual([])
  })

  test("webhook configurations are never subject to webhooks", async () => {
    answer = (given) => reviewed(given, { allowed: false })
    await configure("Validating", {
      rules: [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] }],
    })
    expect(await verdict(create())).toMatch(/denied the request without explanation/)
    expect(await verdict(call("DELETE", `${configurations}/validatingwebhookconfigurations`))).toBe("accepted")
    expect(await verdict(create())).toBe("accepted")
  })

  test("a webhook is not called for another tenant's writes", async () => {
    const b = await gateway.createTenant("b")
    answer = (given) => reviewed(given, { allowed: false })
    await configure("Validating", {})
    const body = { metadata: { name: fresh() } }
    const { code } = await gateway.request(`/tenants/b${configMaps}`, { ...b, method: "POST", body })
    expect(code).toBe(201)
    expect(server.calls).toEqual([])
  })
})

describe("a webhook's response", () => {
  const prefix = 'admission webhook "hook-0.example.com" denied the request'
  test.each<[string, Loose, string]>([
    ["denied", { allowed: false }, `400 ${prefix} without explanation`],
    [
      "denied with a message",
      { allowed: false, status: { message: "too blue", code: 422 } },
      `422 ${prefix}: too blue`,
    ],
    [
      "denied with a reason",
      { allowed: false, status: { reason: "Forbidden", code: 403 } },
      `403 ${prefix}: Forbidden`,
    ],
    ["denied with a code of success", { allowed: false, status: { code: 200, message: "x" } }, `400 ${prefix}: x`],
    ["allowed", { allowed: true }, "accepted"],
  ])("%s", async (_, response, expected) => {
    answer = (given) => reviewed(given, response)
    await configure("Validating", {})
    expect(await verdict(create())).toBe(expected)
  })

  test("denied with a whole status, which is kept", async () => {
    const status = { status: "Odd", message: "m", code: 600, metadata: { continue: "c" }, details: { name: "n" } }
    answer = (given) => reviewed(given, { allowed: false, status })
    await configure("Validating", {})
    const { code, json } = await create()
    expect(code).toBe(600)
    expect(json()).toEqual({ ...status, kind: "Status", apiVersion: "v1", message: `${prefix}: m` })
  })

  test("that denies an object of a collection ends the deletion of the others", async () => {
    const names = [fresh(), fresh(), fresh()].toSorted()
    await call("DELETE", configMaps)
    for (const name of names) await create(name)
    answer = (given) => reviewed(given, { allowed: given.body["request"].oldObject.metadata.name !== names[1] })
    await configure("Validating", {})
    expect(await verdict(call("DELETE", configMaps))).toBe(`400 ${prefix} without explanation`)
    const left = (await call("GET", configMaps)).json() as { items: { metadata: { name: string } }[] }
    expect(left.items.map(({ metadata }) => metadata.name).filter((name) => names.includes(name))).toEqual(
      names.slice(1),
    )
  })

  test.each<[string, (body: string) => ReturnType<WebhookHandler>]>([
    ["compressed", (body) => ({ bytes: gzipSync(body), headers: { "content-encoding": "gzip" } })],
    ["YAML", (body) => ({ text: `# a review\n${body}` })],
  ])("may be %s", async (_, encode) => {
    answer = (given) => encode(JSON.stringify((reviewed(given, { allowed: false }) as { body: unknown }).body))
    await configure("Validating", {})
    expect(await verdict(create())).toBe(`400 ${prefix} without explanation`)
  })

  test("that asks for another call later is called again", async () => {
    answer = (given) =>
      server.calls.length === 1 ? { code: 429, text: "", headers: { "retry-after": "0" } } : reviewed(given, {})
    await configure("Validating", {})
    expect(await verdict(create())).toBe("accepted")
    expect(server.calls.length).toBe(2)
  })

  test("null fields are treated as missing", async () => {
    const status = { code: 409, message: "no", details: null, metadata: null }
    answer = (given) => reviewed(given, { allowed: false, status, warnings: null, auditAnnotations: { a: null } })
    await configure("Validating", {})
    expect(await verdict(create())).toBe('409 admission webhook "hook-0.example.com" denied the request: no')
  })

  test("warnings are sent to the client, and annotations to the audit log", async () => {
    answer = (given) => reviewed(given, { warnings: ["mind the gap"], auditAnnotations: { color: "red" } })
    await configure("Validating", {})
    const { headers } = await create()
    expect(headers["warning"]).toBe('299 - "mind the gap"')
    await expect.poll(() => entries.at(-1)?.["annotations"]).toEqual({ "hook-0.example.com/color": "red" })
  })

  test("annotations without a valid name are dropped; a denial is annotated as well", async () => {
    answer = (given) => reviewed(given, { allowed: false, auditAnnotations: { "Not A Key": "x", "a/b": "y", c: "z" } })
    await configure("Mutating", {})
    await create()
    await expect
      .poll(() => Object.keys(entries.at(-1)?.["annotations"] ?? {}))
      .toEqual(["hook-0.example.com/c", "mutation.webhook.admission.k8s.io/round_0_index_0"])
  })
})

describe("a webhook that fails", () => {
  const prefix = '500 Internal error occurred: failed calling webhook "hook-0.example.com": '
  const url = () => `${server.url}/0?timeout=10s`
  test.each<[string, WebhookHandler, () => string]>([
    [
      "another uid",
      () => ({
        body: { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", response: { uid: "x", allowed: true } },
      }),
      () => "received invalid webhook response: expected response.uid=",
    ],
    [
      "no response",
      () => ({ body: { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1" } }),
      () => "received invalid webhook response: webhook response was absent",
    ],
    [
      "a patch when validating",
      (given) => reviewed(given, jsonPatch({ op: "add", path: "/data", value: {} })),
      () => "received invalid webhook response: validating webhook may not return response.patch",
    ],
    [
      "an empty body",
      () => ({ text: "" }),
      () => "failed to call webhook: 0-length response with status code: 200 and content type: application/json",
    ],
    [
      "an error in plain text",
      () => ({ code: 500, text: "boom", headers: { "content-type": "text/plain" } }),
      () => 'failed to call webhook: an error on the server ("boom") has prevented the request from succeeding',
    ],
    [
      "status 404",
      () => ({ code: 404, text: "" }),
      () => "failed to call webhook: the server could not find the requested resource",
    ],
    [
      "a redirect to a forbidden address",
      () => ({ code: 302, text: "", headers: { location: "https://169.254.169.254/" } }),
      () => 'failed to call webhook: Post "https://169.254.169.254/": dial tcp: 169.254.169.254: address not allowed',
    ],
    [
      "a response that is too long",
      () => ({ text: `"${"x".repeat(4 * 1024 * 1024)}"` }),
      () => "failed to call webhook: the answer is longer than",
    ],
  ])("with %s", async (_, handler, expected) => {
    answer = handler
    await configure("Validating", {})
    expect(await verdict(create())).toContain(prefix + expected())
  })

  test.each<[Loose, string]>([
    [{ allowed: "yes" }, "string into Go struct field AdmissionResponse.response.allowed of type bool"],
    [{ uid: 5 }, "number into Go struct field AdmissionResponse.response.uid of type types.UID"],
    [{ patch: 5 }, "number into Go struct field AdmissionResponse.response.patch of type []uint8"],
    [
      { auditAnnotations: { a: 5 } },
      "number into Go struct field AdmissionResponse.response.auditAnnotations of type string",
    ],
    [{ warnings: "no" }, "string into Go struct field AdmissionResponse.response.warnings of type []string"],
    [{ status: "no" }, "string into Go struct field AdmissionResponse.response.status of type v1.Status"],
    [{ status: { code: "x" } }, "string into Go struct field Status.response.status.code of type int32"],
    [
      { status: { details: { name: 5 } } },
      "number into Go struct field StatusDetails.response.status.details.name of type string",
    ],
  ])("with an invalid review: %j", async (response, expected) => {
    answer = (given) => reviewed(given, { allowed: false, ...response })
    await configure("Validating", {})
    expect(await verdict(create())).toBe(`${prefix}failed to call webhook: json: cannot unmarshal ${expected}`)
    await call("DELETE", `${configurations}/validatingwebhookconfigurations`)
    await configure("Mutating", { failurePolicy: "Ignore" })
    expect(await verdict(create())).toBe("accepted")
  })

  test("with a patch that is not base64", async () => {
    answer = (given) => reviewed(given, { patchType: "JSONPatch", patch: "W10=?" })
    await configure("Mutating", {})
    expect(await verdict(create())).toBe(`${prefix}failed to call webhook: illegal base64 data at input byte 4`)
  })

  test("with a timeout", async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    answer = () => ({ wait: promise, body: {} })
    await configure("Validating", { timeoutSeconds: 1 })
    expect(await verdict(create())).toBe(
      `${prefix}failed to call webhook: Post "${server.url}/0?timeout=1s": context deadline exceeded`,
    )
    resolve()
  })

  test("is ignored with failurePolicy Ignore", async () => {
    answer = () => ({ code: 500, text: "" })
    await configure("Validating", { failurePolicy: "Ignore" })
    await configure("Mutating", { failurePolicy: "Ignore" })
    expect(await verdict(create())).toBe("accepted")
    expect(server.calls.length).toBe(2)
  })

  test("with an untrusted certificate", async () => {
    await configure("Validating", { clientConfig: { url: `${server.url}/0` } })
    expect(await verdict(create())).toBe(
      `${prefix}failed to call webhook: Post "${url()}": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    )
  })

  test("with a rejected connection", async () => {
    await configure("Validating", { clientConfig: { url: "https://127.0.0.1:1/0", caBundle: server.caBundle } })
    expect(await verdict(create())).toBe(
      `${prefix}failed to call webhook: Post "https://127.0.0.1:1/0?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused`,
    )
  })

  test("with a missing Service", async () => {
    await configure("Validating", { clientConfig: { service: { name: "none", namespace: "default", path: "/x" } } })
    expect(await verdict(create())).toBe(
      `${prefix}failed to call webhook: Post "https://none.default.svc:443/x?timeout=10s": service "none" not found`,
    )
  })
})

describe("a patch of a webhook", () => {
  const stored = async (name: string): Promise<Loose> => (await call("GET", `${configMaps}/${name}`)).json() as Loose

  test("is stored, and passed to later webhooks", async () => {
    answer = (given) =>
      given.path.startsWith("/0")
        ? reviewed(given, jsonPatch({ op: "add", path: "/data", value: { first: "1" } }))
        : reviewed(given, jsonPatch({ op: "add", path: "/data/second", value: "2" }))
    await configure("Mutating", {}, {})
    const name = fresh()
    expect(await verdict(create(name))).toBe("accepted")
    expect((await stored(name))["data"]).toEqual({ first: "1", second: "2" })
  })

  test("is validated", async () => {
    answer = (given) => reviewed(given, jsonPatch({ op: "add", path: "/data", value: { "a b": "1" } }))
    await configure("Mutating", {})
    expect(await verdict(create())).toMatch(/^422 ConfigMap ".*" is invalid: data\[a b\]: Invalid value: "a b"/)
  })

  test.each<[string, Loose, string]>([
    [
      "that removes a missing field",
      { op: "remove", path: "/metadata/none" },
      "500 Internal error occurred: error in remove for path: '/metadata/none': Unable to remove nonexistent key: none: missing value",
    ],
    ["with an unknown operation", { op: "bogus", path: "/a" }, "500 Internal error occurred: Unexpected kind: bogus"],
    [
      "with a wrong type",
      { op: "add", path: "/data", value: 5 },
      "500 Internal error occurred: json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string",
    ],
    ["with an unknown field", { op: "add", path: "/nothing", value: 5 }, "accepted"],
    ["that removes the namespace", { op: "remove", path: "/metadata/namespace" }, "accepted"],
    [
      "with another namespace",
      { op: "replace", path: "/metadata/namespace", value: "other" },
      "400 the namespace of the provided object does not match the namespace sent on the request",
    ],
  ])("%s", async (_, operation, expected) => {
    answer = (given) => reviewed(given, jsonPatch(operation))
    await configure("Mutating", {})
    expect(await verdict(create())).toContain(expected)
  })

  test("of a delete is rejected", async () => {
    const name = fresh()
    await create(name)
    answer = (given) => reviewed(given, jsonPatch({ op: "add", path: "/x", value: 1 }))
    await configure("Mutating", {})
    expect(await verdict(call("DELETE", `${configMaps}/${name}`))).toBe(
      '500 Internal error occurred: admission webhook "hook-0.example.com" attempted to modify the object, which is not supported for this operation',
    )
  })

  test("is defaulted, and passes the built-in plugins again", async () => {
    answer = (given) =>
      reviewed(given, jsonPatch({ op: "add", path: "/spec/containers/-", value: { name: "side", image: "car" } }))
    await configure("Mutating", {
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
    })
    await call("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } })
    const { json } = await call("POST", "/api/v1/namespaces/default/pods", {
      metadata: { name: fresh() },
      spec: { containers: [{ name: "a", image: "b" }] },
    })
    const [, side] = (json() as Loose)["spec"].containers
    expect(side).toMatchObject({ name: "side", terminationMessagePath: "/dev/termination-log" })
    expect(side.volumeMounts[0].mountPath).toBe("/var/run/secrets/kubernetes.io/serviceaccount")
  })

  test("makes earlier webhooks run again with reinvocationPolicy IfNeeded", async () => {
    answer = (given) =>
      given.path.startsWith("/0")
        ? reviewed(given, {})
        : reviewed(given, jsonPatch({ op: "add", path: "/data", value: { second: "2" } }))
    await configure("Mutating", { reinvocationPolicy: "IfNeeded" }, {})
    await create()
    expect(server.calls.map(({ path }) => path.slice(0, 2))).toEqual(["/0", "/1", "/0"])
    expect(server.calls[2]?.body["request"].object.data).toEqual({ second: "2" })
  })
})

describe("the address of a webhook", () => {
  let strict: TestGateway
  let own: TestTenant

  beforeAll(async () => {
    strict = await startTestGateway()
    own = await strict.createTenant("a")
  })

  afterAll(async () => {
    await strict?.[Symbol.asyncDispose]()
  })

  test.each([
    "https://127.0.0.1:6443/",
    "https://localhost/",
    "https://[::1]/",
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/",
    "https://192.168.1.1/",
    "https://[::ffff:127.0.0.1]/",
    "https://[fe80::1]/",
    "https://2130706433/",
  ])("%s is rejected unless the operator allows it", async (target) => {
    const send = (path: string, body?: unknown, method = "POST"): Promise<RawAnswer> =>
      strict.request(`/tenants/a${path}`, { ...own, method, ...(body === undefined ? {} : { body }) })
    await send(`${configurations}/validatingwebhookconfigurations`, undefined, "DELETE")
    await send(`${configurations}/validatingwebhookconfigurations`, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "c" },
      webhooks: [
        {
          name: "a.example.com",
          clientConfig: { url: target },
          rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    })
    expect(await verdict(send(configMaps, { metadata: { name: "c" } }))).toContain("address not allowed")
  })
})
