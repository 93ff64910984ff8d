// A policy that matches another version than that of the request, of a kind whose versions have other defaults.

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
  const operations = ["CREATE"]
  const resourceRules = [{ operations, apiGroups: [group], apiVersions: ["v2"], resources: ["things"] }]
  const expression = '[JSONPatch{op: "remove", path: "/spec/of"}]'
  const policy = await post(`${registrations}/mutatingadmissionpolicies`, {
    metadata: { name: "p" },
    spec: {
      matchConstraints: { resourceRules, matchPolicy: "Equivalent" },
      reinvocationPolicy: "Never",
      mutations: [{ patchType: "JSONPatch", jsonPatch: { expression } }],
    },
  })
  expect(policy.code, policy.text).toBe(201)
  await post(`${registrations}/mutatingadmissionpolicybindings`, {
    metadata: { name: "b" },
    spec: { policyName: "p" },
  })
  const path = `/apis/${group}/v1/namespaces/default/things`
  const { text, json } = await post(path, {
    apiVersion: `${group}/v1`,
    kind: "Thing",
    metadata: { name: "a" },
    spec: {},
  })
  expect((json() as Loose)["spec"], text).toEqual({ of: "v2" })
})
