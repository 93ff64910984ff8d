import { expect, test } from "vitest"
import { expositionTypeFor } from "./exposition.ts"

test.each([
  ["", "underscores"],
  ["text/plain;escaping=dots", "dots"],
  ["text/plain;escaping=bogus", "underscores"],
  ["text/plain;version=0.0.4, text/html;escaping=dots", "underscores"],
  [
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3",
    "allow-utf-8",
  ],
])("metrics for %j are text with names escaped as %s", (accept, escaping) => {
  const type = expositionTypeFor({ headers: { accept } })
  expect(type).toBe(`text/plain; version=0.0.4; charset=utf-8; escaping=${escaping}`)
})
