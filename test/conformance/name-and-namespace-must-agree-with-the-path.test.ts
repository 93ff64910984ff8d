import { afterAll, beforeAll, expect, test } from "vitest"
import { startControlPlane, type TestControlPlane } from "./control-plane.ts"

let plane: TestControlPlane
const configMaps = "/api/v1/namespaces/default/configmaps"

beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]()
})

test.each<[string, string, string, object, number, string | undefined]>([
  [
    "another namespace in the body of a create",
    "POST",
    configMaps,
    { metadata: { name: "a", namespace: "other" } },
    400,
    "the namespace of the provided object does not match the namespace sent on the request",
  ],
  [
    "another name in the body of an update",
    "PUT",
    `${configMaps}/kube-root-ca.crt`,
    { metadata: { name: "a" } },
    400,
    "the name of the object (a) does not match the name on the URL (kube-root-ca.crt)",
  ],
  ["another kind", "POST", configMaps, { kind: "Secret", apiVersion: "v1", metadata: { name: "a" } }, 400, undefined],
  [
    "another version",
    "POST",
    configMaps,
    { kind: "ConfigMap", apiVersion: "v2", metadata: { name: "a" } },
    400,
    undefined,
  ],
  ["no namespace in the path of a create", "POST", "/api/v1/configmaps", { metadata: { name: "a" } }, 405, undefined],
])("%s is refused", async (_what, method, path, body, code, message) => {
  const answer = await plane.call(method, path, body)
  expect(answer.code).toBe(code)
  if (message !== undefined) expect(answer.json.message).toBe(message)
})

test("what the body does not say is taken from the path", async () => {
  const created = await plane.call("POST", configMaps, { metadata: { name: "taken" } })
  expect(created.json).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", metadata: { namespace: "default" } })
  const updated = await plane.call("PUT", `${configMaps}/taken`, { metadata: { name: "taken" }, data: { a: "1" } })
  expect(updated.json).toMatchObject({ metadata: { name: "taken", namespace: "default" }, data: { a: "1" } })
  const nameless = await plane.call("PUT", `${configMaps}/taken`, { data: { a: "1" } })
  expect(nameless.json).toMatchObject({
    code: 400,
    message: "the name of the object (taken based on URL) was undeterminable: name must be provided",
  })
})

test("an object that lies in no namespace loses the one it names", async () => {
  const created = await plane.call("POST", "/api/v1/namespaces", { metadata: { name: "roomy", namespace: "other" } })
  expect(created.code).toBe(201)
  expect(created.json.metadata).not.toHaveProperty("namespace")
  expect((await plane.call("PUT", "/api/v1/namespaces/roomy", created.json)).code).toBe(200)
})
