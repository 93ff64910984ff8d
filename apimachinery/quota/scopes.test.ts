import { expect, test } from "vitest"
import type { Pod, ResourceQuota } from "../object.ts"
import { quotaMatches } from "./scopes.ts"

const asks = (amounts: object, more: object = {}): object => ({
  containers: [{ name: "a", resources: { requests: amounts } }],
  ...more,
})

test.each<[boolean, object, object]>([
  [true, asks({}), {}],
  [true, asks({ cpu: "0" }), {}],
  [true, asks({ "example.com/gpu": "1" }), {}],
  [false, asks({ memory: "1Mi" }), {}],
  [false, asks({}, { initContainers: [{ name: "b", resources: { limits: { cpu: "1" } } }] }), {}],
  [false, asks({}, { resources: { requests: { cpu: "1" } } }), {}],
  [true, asks({ cpu: "1" }), { qosClass: "BestEffort" }],
  [false, asks({ cpu: "1" }), { qosClass: "" }],
])("%s: a quota with scope BestEffort counts %j with status %j", (expected, spec, status) => {
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec, status } as Pod
  const hard = { pods: "1" }
  const limit = { spec: { hard, scopes: ["BestEffort"] }, status: { hard } }
  const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q" }, ...limit } as ResourceQuota
  expect(quotaMatches(quota, "", "pods", pod)).toBe(expected)
})
