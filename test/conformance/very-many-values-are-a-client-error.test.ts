// Objects of more values than any real one has, which are short as text: faults are told up to a limit, and what takes too long to
// validate is refused. Validation holds the event loop.

import { afterAll, beforeAll, expect, test } from "vitest"
import { validationLimits } from "../../apimachinery/validation-budget.ts"
import { startControlPlane, type TestControlPlane } from "./control-plane.ts"

let controlPlane: TestControlPlane

beforeAll(async () => {
  controlPlane = await startControlPlane()
})
afterAll(() => controlPlane[Symbol.asyncDispose]())

const many = 200_000
const empty = Array.from({ length: many }, () => ({}))
const names = Object.fromEntries(Array.from({ length: many }, (_, index) => [index, "1"]))

const pod = (spec: object): object => ({ metadata: { name: "many" }, spec: { containers: [{ name: "c" }], ...spec } })

test.each<[string, string, object]>([
  ["volumes", "/api/v1/namespaces/default/pods", pod({ volumes: empty })],
  [
    "resources",
    "/api/v1/namespaces/default/pods",
    pod({ containers: [{ name: "c", image: "i", resources: { requests: names } }] }),
  ],
  [
    "finalizers",
    "/api/v1/namespaces/default/configmaps",
    { metadata: { name: "many", finalizers: empty.map(() => "-") } },
  ],
])("of very many faults the first ones are told: %s", async (_what, path, body) => {
  const { code, json } = await controlPlane.call("POST", path, body)
  expect(code).toBe(422)
  expect(json.message).toMatch(/ is invalid: /)
  expect(json.details.causes.length).toBeGreaterThan(0)
  expect(json.details.causes.length).toBeLessThanOrEqual(validationLimits.maxFaults)
})

test.each<[string, string, object]>([
  [
    "values",
    "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
    { rules: Array.from({ length: 3 * many }, () => ({})) },
  ],
  ["expressions", "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies", { variables: empty }],
])("what has too many %s to be validated is refused", async (_what, path, spec) => {
  expect(await controlPlane.call("POST", path, { metadata: { name: "many" }, spec })).toMatchObject({
    code: 413,
    json: {
      reason: "RequestEntityTooLarge",
      message: "Request entity too large: it has more values than can be validated",
    },
  })
})
