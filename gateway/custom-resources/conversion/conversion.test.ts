// Custom resources with webhook conversion, with a whole gateway.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { localNetworks } from "../../backends/networks.ts"
import type { Loose } from "../../testing/kinds.ts"
import { type RawAnswer, startTestGateway, type TestGateway, type TestTenant } from "../../testing/start-gateway.ts"
import { type WebhookCall, type WebhookReply, WebhookServer } from "../../testing/webhook-server.ts"

let gateway: TestGateway
let tenant: TestTenant
let server: WebhookServer
let convert: (object: Loose, version: string) => Loose
let answer: (call: WebhookCall) => WebhookReply

const group = "stable.example.com"
const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
const tests = (version: string): string => `/apis/${group}/${version}/namespaces/default/tests`

/** v1 has hostPort, v2 host and port. */
function properly(object: Loose, version: string): Loose {
  const { hostPort, host, port, ...rest } = object
  const fields = version.endsWith("/v2")
    ? { host: hostPort?.split(":")[0], port: hostPort?.split(":")[1] }
    : { hostPort: `${host}:${port}` }
  return { ...rest, ...fields, apiVersion: version }
}

function reviewed({ body }: WebhookCall, response: Loose = {}): WebhookReply {
  const { uid, desiredAPIVersion, objects } = body["request"]
  const convertedObjects = objects.map((object: Loose) => convert(object, desiredAPIVersion))
  return {
    body: {
      kind: "ConversionReview",
      apiVersion: body["apiVersion"],
      response: { uid, result: { status: "Success" }, convertedObjects, ...response },
    },
  }
}

function definition(storage: "v1" | "v2"): Loose {
  const text = { type: "string" }
  const version = (name: string, properties: Loose): Loose => ({
    name,
    served: true,
    storage: name === storage,
    schema: { openAPIV3Schema: { type: "object", properties } },
  })
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `tests.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "tests", kind: "Test" },
      versions: [version("v1", { hostPort: text }), version("v2", { host: text, port: text })],
      conversion: {
        strategy: "Webhook",
        webhook: {
          conversionReviewVersions: ["v1", "v1beta1"],
          clientConfig: { url: `${server.url}/convert`, caBundle: server.caBundle },
        },
      },
    },
  }
}

function call(method: string, path: string, body?: unknown, type = "application/json"): Promise<RawAnswer> {
  const headers = { "content-type": type }
  return gateway.request(`/tenants/a${path}`, { ...tenant, method, headers, ...(body === undefined ? {} : { body }) })
}

const bodyOf = async (answered: Promise<RawAnswer>): Promise<Loose> => (await answered).json() as Loose

function object(version: string, name: string, fields: Loose): Loose {
  return { apiVersion: `${group}/${version}`, kind: "Test", metadata: { name }, ...fields }
}

beforeAll(async () => {
  gateway = await startTestGateway({ allowedNetworks: localNetworks })
  tenant = await gateway.createTenant("a")
  server = await WebhookServer.start((given) => answer(given))
  convert = properly
  answer = (given) => reviewed(given)
  const { code, text } = await call("POST", crds, definition("v1"))
  expect([code, text]).toEqual([201, expect.any(String)])
})

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

describe("with a conversion webhook", () => {
  test("converts between the written and the read version", async () => {
    const made = await bodyOf(call("POST", tests("v2"), object("v2", "one", { host: "h", port: "80" })))
    expect(made).toMatchObject({ apiVersion: `${group}/v2`, host: "h", port: "80" })
    const read = await bodyOf(call("GET", `${tests("v1")}/one`))
    expect(read).toMatchObject({ apiVersion: `${group}/v1`, hostPort: "h:80" })
    expect(read["metadata"]).toMatchObject({ uid: made["metadata"].uid })
    expect(await bodyOf(call("GET", `${tests("v2")}/one`))).toMatchObject({ host: "h", port: "80" })
  })

  test("reads the stored version without the webhook", async () => {
    await call("POST", tests("v1"), object("v1", "two", { hostPort: "a:1" }))
    const before = server.calls.length
    await call("GET", `${tests("v1")}/two`)
    expect(server.calls.length).toBe(before)
  })

  test("converts a list with one call", async () => {
    await call("POST", tests("v1"), object("v1", "three", { hostPort: "b:2" }))
    const before = server.calls.length
    const { items } = await bodyOf(call("GET", tests("v2")))
    expect(items.map(({ host }: Loose) => host)).toContain("b")
    expect(server.calls.length).toBe(before + 1)
    expect(server.calls.at(-1)?.body["request"].objects.length).toBe(items.length)
    expect(server.calls.at(-1)?.path).toBe("/convert?timeout=30s")
  })

  test("updates and patches are converted from the stored version", async () => {
    await call("POST", tests("v1"), object("v1", "four", { hostPort: "c:3" }))
    const patched = await bodyOf(call("PATCH", `${tests("v2")}/four`, { port: "4" }, "application/merge-patch+json"))
    expect(patched).toMatchObject({ host: "c", port: "4" })
    expect(await bodyOf(call("GET", `${tests("v1")}/four`))).toMatchObject({ hostPort: "c:4" })
  })

  test("an update that changes only the stored version is written, once", async () => {
    await call("POST", tests("v1"), object("v1", "bare", { hostPort: "s" }))
    const revision = async (): Promise<string> => {
      const patched = await bodyOf(call("PATCH", `${tests("v2")}/bare`, {}, "application/merge-patch+json"))
      return patched["metadata"].resourceVersion as string
    }
    const { metadata } = await bodyOf(call("GET", `${tests("v2")}/bare`))
    const first = await revision()
    expect(first).not.toBe(metadata.resourceVersion)
    expect(await revision()).toBe(first)
    await call("DELETE", `${tests("v1")}/bare`)
  })

  test("converts a long list with several calls", async () => {
    const names = ["l1", "l2", "l3", "l4"]
    for (const name of names) {
      const hostPort = `${"h".repeat(200_000)}:1`
      await call("POST", tests("v1"), {
        ...object("v1", name, { hostPort }),
        metadata: { name, labels: { long: "yes" } },
      })
    }
    const before = server.calls.length
    const { items } = await bodyOf(call("GET", `${tests("v2")}?labelSelector=long=yes`))
    expect(items.map(({ metadata }: Loose) => metadata.name)).toEqual(names)
    const sizes = server.calls.slice(before).map(({ body }) => body["request"].objects.length as number)
    expect(sizes.length).toBeGreaterThan(1)
    for (const name of names) await call("DELETE", `${tests("v1")}/${name}`)
  })

  test("converts watch events to the requested version", async () => {
    const answered = await call("GET", `${tests("v2")}?watch=true&timeoutSeconds=1`)
    const events = answered.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Loose)
    expect(events.length).toBeGreaterThan(0)
    expect(events.every(({ object: shown }) => shown.apiVersion === `${group}/v2` && shown.host !== undefined)).toBe(
      true,
    )
  })

  test("converts objects of an earlier storage version", async () => {
    const current = await bodyOf(call("GET", `${crds}/tests.${group}`))
    const { metadata } = current
    const next = { ...definition("v2"), metadata: { ...metadata } }
    expect((await call("PUT", `${crds}/tests.${group}`, next)).code).toBe(200)
    await call("POST", tests("v2"), object("v2", "five", { host: "d", port: "5" }))
    for (const [version, fields] of [
      ["v1", ["hostPort"]],
      ["v2", ["host", "port"]],
    ] as const) {
      const { items } = await bodyOf(call("GET", tests(version)))
      expect(items.length).toBe(5)
      expect(items.every((item: Loose) => fields.every((field) => item[field] !== undefined))).toBe(true)
    }
  })

  test("unknown fields of a version are dropped", async () => {
    convert = (given, version) => ({ ...properly(given, version), foreign: true })
    expect(await bodyOf(call("GET", `${tests("v1")}/five`))).not.toHaveProperty("foreign")
    convert = properly
  })

  test("the webhook may change labels and annotations, but no other metadata", async () => {
    convert = (given, version) => {
      const converted = properly(given, version)
      return {
        ...converted,
        metadata: { ...converted["metadata"], labels: { by: "webhook" }, generation: 99, resourceVersion: "1" },
      }
    }
    const { metadata } = await bodyOf(call("GET", `${tests("v1")}/five`))
    expect(metadata.labels).toEqual({ by: "webhook" })
    expect(metadata.generation).toBe(1)
    expect(metadata.resourceVersion).not.toBe("1")
    convert = properly
  })
})

describe("a failed conversion", () => {
  test("does not block writes in the stored version, and drops the managers of other versions", async () => {
    await call("POST", tests("v1"), object("v1", "six", { hostPort: "d:4" }))
    answer = () => ({ code: 500, text: "" })
    const patch = { host: "e" }
    const written = await call("PATCH", `${tests("v2")}/six`, patch, "application/merge-patch+json")
    answer = (given) => reviewed(given)
    expect([written.code, (written.json() as Loose)["host"]]).toEqual([200, "e"])
    expect((written.json() as Loose)["metadata"]).not.toHaveProperty("managedFields")
  })

  const about = `conversion webhook for ${group}/v2, Kind=Test`
  test.each<[string, (call: WebhookCall) => WebhookReply, string]>([
    [
      "with a message responds with it",
      (c) => reviewed(c, { result: { status: "Failed", message: "too odd" } }),
      `${about} failed: too odd`,
    ],
    [
      "without a message responds with the status",
      (c) => reviewed(c, { result: { status: "Failed" } }),
      `${about} failed: response.result.status was 'Failed', not 'Success'`,
    ],
    [
      "without objects responds with the number",
      (c) => reviewed(c, { convertedObjects: [] }),
      `${about} returned 0 objects, expected 1`,
    ],
    [
      "with another uid responds with the expected one",
      (c) => reviewed(c, { uid: "x" }),
      `${about} failed: expected response.uid=`,
    ],
    [
      "of another kind responds with both",
      () => ({ body: { kind: "Status", apiVersion: "v1", status: "Success" } }),
      `${about} failed: converting (v1.Status) to (v1.ConversionReview): unknown conversion`,
    ],
    [
      "of another type responds with it",
      (c) => reviewed(c, { convertedObjects: "x" }),
      `${about} failed: json: cannot unmarshal string into Go struct field ConversionResponse.response.convertedObjects of type []runtime.RawExtension`,
    ],
    [
      "without a response responds with an error",
      () => ({ body: { kind: "ConversionReview", apiVersion: "apiextensions.k8s.io/v1" } }),
      `${about} failed: no response provided`,
    ],
    [
      "with an HTTP error responds with it",
      () => ({ code: 500, text: "" }),
      `${about} failed: an error on the server ("unknown") has prevented the request from succeeding`,
    ],
  ])("%s", async (_, reply, message) => {
    answer = reply
    const answered = await call("GET", `${tests("v1")}/five`)
    expect([answered.code, (answered.json() as Loose)["message"]]).toEqual([500, expect.stringContaining(message)])
    expect((await call("GET", tests("v1"))).code).toBe(500)
    answer = (given) => reviewed(given)
  })

  test.each<[string, (object: Loose) => Loose, string]>([
    [
      "version",
      (given) => ({ ...given, apiVersion: "x/v1" }),
      `object at index 0: invalid groupVersion (expected ${group}/v1, received x/v1)`,
    ],
    [
      "kind",
      (given) => ({ ...given, kind: "Other" }),
      "object at index 0: invalid kind (expected Test, received Other)",
    ],
    [
      "name",
      (given) => ({ ...given, metadata: { ...given["metadata"], name: "y" } }),
      "object: must have the same name: five != y",
    ],
    [
      "type of labels",
      (given) => ({ ...given, metadata: { ...given["metadata"], labels: [] } }),
      "metadata: invalid metadata.labels of type []interface {} in converted object",
    ],
    [
      "type of an annotation",
      (given) => ({ ...given, metadata: { ...given["metadata"], annotations: { a: 1.5 } } }),
      "metadata: metadata.annotations[a] must be a string, but is float64 in converted object",
    ],
    [
      "labels to invalid ones",
      (given) => ({ ...given, metadata: { ...given["metadata"], labels: { a: "-" } } }),
      `metadata: metadata.labels: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    ],
  ])("is reported if the webhook changes the %s", async (_, change, message) => {
    convert = (given, version) => change(properly(given, version))
    const answered = await call("GET", `${tests("v1")}/five`)
    expect((answered.json() as Loose)["message"]).toBe(`${about} returned invalid ${message}`)
    convert = properly
  })
})

test.each<[Loose, string]>([
  [
    { strategy: "Webhook" },
    "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
  ],
  [{ strategy: "Other" }, 'spec.conversion.strategy: Unsupported value: "Other": supported values: "None", "Webhook"'],
  [
    { strategy: "None", webhook: { conversionReviewVersions: ["v1"] } },
    "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook",
  ],
  [
    { strategy: "Webhook", webhook: { conversionReviewVersions: ["v7"], clientConfig: { url: "https://a/" } } },
    "must include at least one of v1, v1beta1",
  ],
  [
    { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "http://a/?b" } } },
    "'https' is the only allowed URL scheme; desired format: https://host[/path]",
  ],
])("a definition with %o is rejected", async (conversion, message) => {
  const wrong = definition("v1")
  wrong["spec"] = { ...wrong["spec"], group: "other.example.com", conversion }
  wrong["metadata"] = { name: "tests.other.example.com" }
  const answered = await call("POST", crds, wrong)
  expect([answered.code, (answered.json() as Loose)["message"]]).toEqual([422, expect.stringContaining(message)])
})

test("an object of a version that its definition has lost is sent to the webhook with all of its fields", async () => {
  const path = `${crds}/tests.${group}`
  await call("POST", tests("v1"), object("v1", "lost", { hostPort: "localhost:7" }))
  const send = async (at: string, change: unknown): Promise<number> =>
    (await call("PATCH", at, change, "application/merge-patch+json")).code
  const { versions } = definition("v2")["spec"]
  expect(await send(path, { spec: { versions } })).toBe(200)
  expect(await send(`${path}/status`, { status: { storedVersions: ["v2"] } })).toBe(200)
  expect(await send(path, { spec: { versions: versions.slice(1) } })).toBe(200)
  expect(await bodyOf(call("GET", `${tests("v2")}/lost`))).toMatchObject({ host: "localhost", port: "7" })
})

test("what a webhook leaves out when an object is stored has the default of the stored version", async () => {
  const presets = definition("v2")
  presets["metadata"] = { name: `presets.${group}` }
  const properties = { shade: { type: "string", default: "dark" } }
  const versions = presets["spec"].versions.map((version: Loose) => ({
    ...version,
    schema: { openAPIV3Schema: { type: "object", properties } },
  }))
  presets["spec"] = { ...presets["spec"], names: { plural: "presets", kind: "Preset" }, versions }
  expect((await call("POST", crds, presets)).code).toBe(201)
  convert = ({ kind, metadata }, version) => ({ apiVersion: version, kind, metadata })
  const path = (version: string): string => `/apis/${group}/${version}/namespaces/default/presets`
  const made = { apiVersion: `${group}/v1`, kind: "Preset", metadata: { name: "a" }, shade: "light" }
  expect((await call("POST", path("v1"), made)).code).toBe(201)
  expect(await bodyOf(call("GET", `${path("v2")}/a`))).toMatchObject({ shade: "dark" })
  convert = properly
})
