// In which form a policy patches an object: in the version that it matches, whose defaults may be others, and as Go prints it. And when
// what it makes is read, and converted.

import { afterAll, beforeAll, expect, test } from "vitest"
import type { Loose } from "../../testing/kinds.ts"
import { type RawAnswer, startTestGateway, type TestGateway, type TestTenant } from "../../testing/start-gateway.ts"

const group = "a.example.com"
const registrations = "/apis/admissionregistration.k8s.io/v1"

let gateway: TestGateway
let tenant: TestTenant

const post = (path: string, body: Loose): Promise<RawAnswer> =>
  gateway.request(`/tenants/a${path}`, { ...tenant, method: "POST", body })

beforeAll(async () => {
  gateway = await startTestGateway()
  tenant = await gateway.createTenant("a")
})

afterAll(() => gateway?.[Symbol.asyncDispose]())

const version = (name: string): Loose => {
  const spec = { type: "object", properties: { of: { type: "string", default: name } } }
  const openAPIV3Schema = { type: "object", properties: { spec } }
  return { name, served: true, storage: name === "v1", schema: { openAPIV3Schema } }
}

const mutate = async (name: string, rule: Loose, ...operations: string[]): Promise<void> => {
  const policy = await post(`${registrations}/mutatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [{ operations: ["CREATE"], ...rule }], matchPolicy: "Equivalent" },
      reinvocationPolicy: "Never",
      mutations: operations.map((each) => ({
        patchType: "JSONPatch",
        jsonPatch: { expression: `[JSONPatch${each}]` },
      })),
    },
  })
  expect(policy.code, policy.text).toBe(201)
  await post(`${registrations}/mutatingadmissionpolicybindings`, { metadata: { name }, spec: { policyName: name } })
}

test("what it makes has the defaults of the version that it matches", async () => {
  await post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: ["v1", "v2"].map(version),
    },
  })
  const rule = { apiGroups: [group], apiVersions: ["v2"], resources: ["things"] }
  await mutate("p", rule, '{op: "remove", path: "/spec/of"}')
  const path = `/apis/${group}/v1/namespaces/default/things`
  const { text, json } = await post(path, {
    apiVersion: `${group}/v1`,
    kind: "Thing",
    metadata: { name: "a" },
    spec: {},
  })
  expect((json() as Loose)["spec"], text).toEqual({ of: "v2" })
})

test("it finds what one before it has taken away, but is always printed", async () => {
  const rule = { apiGroups: ["networking.k8s.io"], apiVersions: ["v1"], resources: ["ingresses"] }
  const path = "/spec/defaultBackend/service/name"
  await mutate("q", rule, ...["remove", "remove", "add"].map((op) => `{op: "${op}", path: "${path}", value: "made"}`))
  const service = { port: { number: 80 } }
  const { text, json } = await post("/apis/networking.k8s.io/v1/namespaces/default/ingresses", {
    metadata: { name: "a" },
    spec: { defaultBackend: { service: { name: "given", ...service } } },
  })
  expect((json() as Loose)["spec"], text).toEqual({ defaultBackend: { service: { name: "made", ...service } } })
})

test("what it leaves as it is, is read anew", async () => {
  const maps = "/api/v1/namespaces/default/configmaps"
  const rule = { operations: ["UPDATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }
  const map = { metadata: { name: "a" }, immutable: true }
  await post(maps, map)
  const put = (): Promise<RawAnswer> =>
    gateway.request(`/tenants/a${maps}/a`, { ...tenant, method: "PUT", body: { ...map, binaryData: {} } })
  expect((await put()).code).toBe(422)
  await mutate("r", rule, '{op: "test", path: "/metadata/name", value: "b"}')
  expect((await put()).code, "a test that fails").toBe(422)
  await mutate("s", rule, '{op: "test", path: "/metadata/name", value: "a"}')
  expect((await put()).code).toBe(200)
})

test("it is converted when all policies are done", async () => {
  const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["secrets"] }
  await mutate("t", rule, '{op: "add", path: "/stringData", value: {"a": "first"}}')
  await mutate("u", rule, '{op: "replace", path: "/stringData/a", value: "second"}')
  const { text, json } = await post("/api/v1/namespaces/default/secrets", { metadata: { name: "a" } })
  expect((json() as Loose)["data"], text).toEqual({ a: Buffer.from("second").toString("base64") })
  expect(json()).not.toHaveProperty("stringData")
})

test("what cannot be converted is refused when all policies are done", async () => {
  const rule = { apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"] }
  const annotation = "deprecated.deployment.rollback.to"
  await mutate("v", rule, `{op: "add", path: "/metadata/annotations", value: {"${annotation}": "x"}}`)
  const create = async (): Promise<string> => {
    const labels = { a: "b" }
    const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } }
    const spec = { selector: { matchLabels: labels }, template }
    return (await post("/apis/apps/v1/namespaces/default/deployments", { metadata: { name: "a" }, spec })).text
  }
  expect(await create()).toContain(
    `Internal error occurred: failed to convert object: failed to parse annotation[${annotation}]=x as int64: `,
  )
  await mutate("w", rule, `{op: "remove", path: "/metadata/annotations/${annotation}"}`)
  expect(await create()).toContain('"kind":"Deployment"')
})
