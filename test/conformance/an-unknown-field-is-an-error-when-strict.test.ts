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

const body = `{"metadata":{"name":"NAME"},"dta":{},"data":{"a":"1","a":"2"}}`
const faults = ['unknown field "dta"', 'duplicate field "data.a"']

test("strict: refused, with every fault named", async () => {
  const answer = await plane.call("POST", `${configMaps}?fieldValidation=Strict`, body.replace("NAME", "strict"))
  expect(answer.json).toMatchObject({
    code: 400,
    reason: "BadRequest",
    message: `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${faults.join(", ")}`,
  })
})

test.each([
  ["Warn", "warn", "&fieldValidation=Warn", faults],
  ["by default", "default", "", faults],
  ["Ignore", "ignore", "&fieldValidation=Ignore", []],
])("%s: written without them", async (_what, name, query, expected) => {
  const answer = await plane.call("POST", `${configMaps}?x=1${query}`, body.replace("NAME", name))
  expect(answer.code).toBe(201)
  expect(answer.json).not.toHaveProperty("dta")
  expect(answer.json.data).toEqual({ a: "2" })
  const warnings = answer.headers["warning"] ?? ""
  for (const fault of faults)
    expect(warnings.includes(JSON.stringify(fault).slice(1, -1))).toBe(expected.includes(fault))
})

test("a level that does not exist is refused", async () => {
  const answer = await plane.call("POST", `${configMaps}?fieldValidation=strict`, body)
  expect(answer.json).toMatchObject({ code: 422, reason: "Invalid" })
})
