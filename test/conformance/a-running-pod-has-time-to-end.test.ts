import { afterAll, beforeAll, expect, test } from "vitest"
import { startControlPlane, type TestControlPlane } from "./control-plane.ts"

let plane: TestControlPlane

beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]()
})

const pods = "/api/v1/namespaces/default/pods"
const start = async (name: string, nodeName?: string): Promise<void> => {
  const spec = { containers: [{ name: "main", image: "a" }], ...(nodeName === undefined ? {} : { nodeName }) }
  expect((await plane.call("POST", pods, { metadata: { name }, spec })).code).toBe(201)
}

test("on a node it is marked, and gone when the kubelet says so", async () => {
  await start("placed", "node-1")
  const marked = await plane.call("DELETE", `${pods}/placed`)
  expect(marked.json).toMatchObject({ kind: "Pod", metadata: { deletionGracePeriodSeconds: 30 } })
  const again = await plane.call("DELETE", `${pods}/placed`, { gracePeriodSeconds: 5 })
  expect(again.json.metadata.deletionGracePeriodSeconds).toBe(5)
  expect(Date.parse(again.json.metadata.deletionTimestamp)).toBeLessThanOrEqual(
    Date.parse(marked.json.metadata.deletionTimestamp),
  )
  await plane.call("DELETE", `${pods}/placed`, { gracePeriodSeconds: 0 })
  expect((await plane.call("GET", `${pods}/placed`)).code).toBe(404)
})

test("on no node it is gone at once", async () => {
  await start("waiting")
  await plane.call("DELETE", `${pods}/waiting`)
  expect((await plane.call("GET", `${pods}/waiting`)).code).toBe(404)
})
