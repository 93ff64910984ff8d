import { expect, test } from "vitest"
import type { AdmissionAttributes } from "./chain.ts"
import { replaceObject } from "./patched.ts"

const made = (data: Record<string, string>): object => {
  const kind = { group: "", version: "v1", kind: "ConfigMap" }
  const attributes = { object: { metadata: {} }, kind, definition: kind } as unknown as AdmissionAttributes
  replaceObject(attributes, { apiVersion: "v1", kind: "ConfigMap", metadata: {}, data })
  return attributes.object ?? {}
}

test("admission cannot make an object larger than could be stored", () => {
  expect(made({ a: "x".repeat(3_000_000) })).toHaveProperty("data.a")
  expect(() => made({ a: "x".repeat(3_000_000), b: "x".repeat(3_000_000) })).toThrow(
    "admission made the object too large",
  )
})
