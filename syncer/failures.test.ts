import { expect, test } from "vitest"
import { StatusError } from "../apimachinery/status.ts"
import { isRefusal } from "./failures.ts"

test.each([
  [400, true],
  [401, false],
  [403, true],
  [404, false],
  [408, false],
  [409, false],
  [413, true],
  [422, true],
  [429, false],
  [451, true], // denied by a webhook with a code of its own
  [500, false],
  [503, false],
])("a write that fails with %i is refused: %s", (code, refused) => {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: "no", code } as const
  expect(isRefusal(new StatusError(status))).toBe(refused)
})
