import { afterAll, beforeAll, expect, test } from "vitest"
import { startControlPlane, type TestControlPlane } from "./control-plane.ts"

let plane: TestControlPlane

beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]()
})

test.each(["/healthz", "/livez", "/readyz"])("%s", async (path) => {
  expect(await plane.call("GET", path)).toMatchObject({ code: 200, text: "ok" })
  const verbose = await plane.call("GET", `${path}?verbose`)
  expect(verbose.text).toMatch(/^\[\+\]ping ok\n/)
  expect(verbose.text.trimEnd().split("\n").at(-1)).toBe(`${path.slice(1)} check passed`)
  expect((await plane.call("GET", `${path}/ping`)).text).toBe("ok")
  expect((await plane.call("GET", `${path}/absent`)).code).toBe(404)
  expect((await plane.call("POST", path, {})).code).toBe(200)
  const excluding = await plane.call("GET", `${path}?verbose&exclude=etcd&exclude=nothing`)
  expect(excluding.text).toContain("[+]etcd excluded: ok\n")
  expect(excluding.text).toContain('no matches for "nothing"\n')
})

test("the version is that of the API served", async () => {
  const { json } = await plane.call("GET", "/version")
  expect(json.gitVersion).toMatch(/^v1\.\d+\.\d+/)
})
