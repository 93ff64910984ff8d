import { expect, test } from "vitest"
import { notFound } from "../apimachinery/status.ts"
import { failureFields } from "./log.ts"

test("a failure is logged by its message, and a bug with its stack", () => {
  const refusal = notFound({ group: "", resource: "pods" }, "a")
  expect(failureFields(refusal)).toEqual({ error: 'pods "a" not found' })
  expect(failureFields(new Error("no answer"))).toEqual({ error: "no answer" })
  expect(failureFields("aborted")).toEqual({ error: "aborted" })
  const bug = new TypeError("x is undefined")
  expect(failureFields(bug)).toEqual({ err: bug })
})
