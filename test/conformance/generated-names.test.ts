import { afterAll, beforeAll, expect, test } from "vitest"
import { startControlPlane, type TestControlPlane } from "./control-plane.ts"

let plane: TestControlPlane
const configMaps = "/api/v1/namespaces/default/configmaps"

beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]()
})

test("a prefix becomes a name that is free, a name given wins", async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => plane.call("POST", configMaps, { metadata: { generateName: "gen-" } })),
  )
  const names = answers.map(({ json }) => json.metadata.name as string)
  expect(new Set(names).size).toBe(20)
  for (const name of names) expect(name).toMatch(/^gen-[a-z0-9]{5}$/)
  const named = await plane.call("POST", configMaps, { metadata: { generateName: "gen-", name: "mine" } })
  expect(named.json.metadata.name).toBe("mine")
})

test("neither name nor prefix is refused", async () => {
  const answer = await plane.call("POST", configMaps, {})
  expect(answer.json).toMatchObject({ code: 422, reason: "Invalid" })
  expect(answer.json.message).toContain("name or generateName is required")
})
