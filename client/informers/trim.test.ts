import { expect, test } from "vitest"
import type { Pod } from "../../apimachinery/object.ts"
import { trim } from "./trim.ts"

const spec = { containers: [] }
const managedFields = [{ manager: "kubelet" }]

test("an object is stored without managedFields and otherwise unchanged", () => {
  const pod: Pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web", managedFields }, spec }
  const kept = trim(pod)
  expect(kept).toEqual({ apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, spec })
  expect(kept.metadata).not.toHaveProperty("managedFields")
  expect(kept.spec).toBe(spec)
  expect(pod.metadata).toHaveProperty("managedFields")
})

test("trimming the same object twice returns the same result", () => {
  const pod: Pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web", managedFields }, spec }
  expect(trim(pod)).toBe(trim(pod))
})

test("an object without managedFields is returned itself", () => {
  const pod: Pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, spec }
  expect(trim(pod)).toBe(pod)
})
