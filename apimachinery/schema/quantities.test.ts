import { expect, test } from "vitest"
import { schemaOf } from "./facts.ts"
import { withTextsOf } from "./quantities.ts"

const schema = schemaOf({ group: "", version: "v1", kind: "Pod" }) ?? { type: "any" }
const podWith = (memory: string, image = "a", count = 1): object => ({
  spec: {
    containers: Array.from({ length: count }, () => ({ image, resources: { limits: { memory, cpu: "1" } } })),
    volumes: [{ emptyDir: { sizeLimit: memory } }],
  },
})

test("the same amounts get the texts that they are compared with", () => {
  expect(withTextsOf(podWith("1073741824", "b"), podWith("1Gi"), schema)).toEqual(podWith("1073741824"))
})

test("others remain as they are", () => {
  const current = podWith("1Gi")
  expect(withTextsOf(podWith("1Gi", "b"), current, schema)).toBe(current)
  expect(withTextsOf(podWith("2Gi"), current, schema)).toBe(current)
  expect(withTextsOf({}, current, schema)).toBe(current)
})

test("items are compared by place", () => {
  const longer = withTextsOf(podWith("1Gi", "a", 2), podWith("1073741824", "b"), schema)
  expect(longer).toEqual(podWith("1Gi", "b"))
})

test("only quantities are compared by their amounts", () => {
  const current = { spec: { containers: [{ env: [{ name: "a", value: "1Gi" }] }] } }
  const value = { spec: { containers: [{ env: [{ name: "a", value: "1073741824" }] }] } }
  expect(withTextsOf(value, current, schema)).toBe(current)
})
