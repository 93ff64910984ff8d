import { expect, test, vi } from "vitest"
import { openRegistry } from "./testing/open-registry.ts"

/** More than the cache of values keeps. */
const longBytes = 1_000_000

test.each([
  ["updated", "update"],
  ["deleted", "remove"],
] as const)("a long object that is %s is parsed once", async (_, verb) => {
  const { create, make, update, remove } = openRegistry()
  await create(make("long", { data: { text: "x".repeat(longBytes) } }))
  using parse = vi.spyOn(JSON, "parse")
  if (verb === "update") await update("long", (object) => ({ ...object, immutable: true }))
  else await remove("long")
  expect(parse.mock.calls.filter(([text]) => text.length > longBytes)).toHaveLength(1)
})
