import { expect, test } from "vitest"
import { compareVersions } from "./version-order.ts"

test("stable versions come before beta and alpha, higher before lower, other names last", () => {
  const preferred = [
    "v10",
    "v2",
    "v1",
    "v0",
    "v11beta2",
    "v10beta3",
    "v3beta1",
    "v12alpha1",
    "v11alpha2",
    "foo1",
    "foo10",
    "v9223372036854775808", // too large for Go's int
  ]
  expect(preferred.toSorted(compareVersions)).toEqual(preferred)
  expect(preferred.toReversed().sort(compareVersions)).toEqual(preferred)
})
