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

test("from a version that is forgotten: 410, in the stream", async () => {
  const { metadata } = (await plane.call("GET", configMaps)).json
  await plane.call("POST", configMaps, { metadata: { name: "later" } })
  await plane.compact()
  const watch = await plane.watch(`${configMaps}?resourceVersion=${metadata.resourceVersion}`)
  expect(watch.code).toBe(200)
  expect(await watch.next()).toMatchObject({ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } })
  expect(await watch.next()).toBeUndefined()
})

test("initial events end with a bookmark that says so", async () => {
  const query = "allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
  const watch = await plane.watch(`${configMaps}?${query}`)
  const { items } = (await plane.call("GET", configMaps)).json as { items: unknown[] }
  const seen: string[] = []
  for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
    seen.push(event.type)
    if (event.type !== "BOOKMARK") continue
    expect(event.object.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" })
    expect(Number(event.object.metadata.resourceVersion)).toBeGreaterThan(0)
    break
  }
  expect(seen).toEqual([...items.map(() => "ADDED"), "BOOKMARK"])
  await watch.stop()
})

test("ends by itself after the time it was given", async () => {
  const watch = await plane.watch(
    `${configMaps}?timeoutSeconds=1&resourceVersion=${(await plane.call("GET", configMaps)).json.metadata.resourceVersion}`,
  )
  expect(await watch.next()).toBeUndefined()
})

test.each([
  ["a version that is no number", "resourceVersion=x", 500],
  ["a selector that is none", "labelSelector=a%20b%20c", 400],
  ["a field nobody can select by", "fieldSelector=data.a%3D1", 400],
  ["initial events without a match", "sendInitialEvents=true", 422],
])("%s is refused before the stream begins", async (_what, query, code) => {
  const watch = await plane.watch(`${configMaps}?${query}`)
  expect(watch.code).toBe(code)
  await watch.stop()
})
