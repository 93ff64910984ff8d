// Patches that give a deployment or its scale a version that is not served any more.

import { afterAll, beforeAll, expect, test } from "vitest"
import { startTestGateway, type RawAnswer, type TestGateway, type TestTenant } from "../../testing/start-gateway.ts"
import type { Loose } from "../../testing/kinds.ts"

const path = "/tenants/a/apis/apps/v1/namespaces/default/deployments"
const labels = { a: "b" }

let gateway: TestGateway
let tenant: TestTenant

beforeAll(async () => {
  gateway = await startTestGateway()
  tenant = await gateway.createTenant("a")
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } }
  const body = { metadata: { name: "a" }, spec: { selector: { matchLabels: labels }, template } }
  expect(await gateway.request(path, { ...tenant, method: "POST", body })).toMatchObject({ code: 201 })
})

afterAll(async () => gateway?.[Symbol.asyncDispose]())

function patch(spec: Loose, query = ""): Promise<RawAnswer> {
  const headers = { "content-type": "application/merge-patch+json" }
  const body = { apiVersion: "apps/v1beta1", spec }
  return gateway.request(`${path}/a?dryRun=All${query}`, { ...tenant, method: "PATCH", headers, body })
}

test.each<[Loose, string, string]>([
  [
    { rollbackTo: "x" },
    "",
    "cannot unmarshal string into Go struct field DeploymentSpec.spec.rollbackTo of type v1beta1.RollbackConfig",
  ],
  [
    { rollbackTo: { revision: "x" } },
    "",
    "cannot unmarshal string into Go struct field RollbackConfig.spec.rollbackTo.revision of type int64",
  ],
  [
    { rollbackTo: { revision: 1.5 } },
    "",
    "cannot unmarshal number 1.5 into Go struct field RollbackConfig.spec.rollbackTo.revision of type int64",
  ],
  [
    { rollbackTo: { revision: 3, foo: 1 } },
    "&fieldValidation=Strict",
    'strict decoding error: unknown field "spec.rollbackTo.foo"',
  ],
  [{ selector: null, strategy: 5 }, "", "of type v1beta1.DeploymentStrategy"],
])("that has %j is refused as it was patched", async (spec, query, words) => {
  const { code, json } = await patch(spec, query)
  const { message } = json() as { message: string }
  expect(code).toBe(422)
  expect(message).toContain(words)
  expect(message).toContain('Invalid value: "{\\"apiVersion\\":\\"apps/v1beta1\\"')
  for (const [field, value] of Object.entries(spec)) {
    if (value === null) expect(message).not.toContain(`\\"${field}\\"`)
    else expect(message).toContain(`\\"${field}\\":`)
  }
})

test("has the defaults of that version, and is of the served one", async () => {
  const { json } = await patch({ revisionHistoryLimit: null, rollbackTo: { revision: 3, foo: 1 } })
  const { apiVersion, metadata, spec } = json() as { apiVersion: string; metadata: Loose; spec: Loose }
  expect(apiVersion).toBe("apps/v1")
  expect(metadata["annotations"]).toEqual({ "deprecated.deployment.rollback.to": "3" })
  expect(spec["revisionHistoryLimit"]).toBe(2)
  expect(spec).not.toHaveProperty("rollbackTo")
})

test.each<[string, Loose, number, string]>([
  ["apps/v1beta1", { kind: "Deployment" }, 422, "converting (v1beta1.Deployment) to (autoscaling.Scale)"],
  ["apps/v1beta1", { kind: "Deployment", spec: { replicas: "3" } }, 422, "field DeploymentSpec.spec.replicas of type"],
  ["apps/v1beta1", { kind: "Scale" }, 422, "field ScaleStatus.status.selector of type map[string]string"],
  ["extensions/v1beta1", { kind: "Scale", status: { selector: labels } }, 200, '"replicas":7'],
])("a scale of %s that is patched to be %j", async (apiVersion, change, expected, words) => {
  const headers = { "content-type": "application/merge-patch+json" }
  const body = { apiVersion, spec: { replicas: 7 }, ...change }
  const asked = { ...tenant, method: "PATCH", headers, body }
  const { code, text } = await gateway.request(`${path}/a/scale?dryRun=All`, asked)
  expect(code).toBe(expected)
  expect(text).toContain(words)
})
