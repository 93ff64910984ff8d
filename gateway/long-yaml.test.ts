// Documents that are parsed in another thread.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { ConfigMap } from "../apimachinery/object.ts"
import { configMaps } from "../client/resources.ts"
import { type RawAnswer, startTestGateway, type TestGateway, type TestTenant } from "./testing/start-gateway.ts"

let fixture: TestGateway
let a: TestTenant

beforeAll(async () => {
  fixture = await startTestGateway()
  a = await fixture.createTenant("a")
})

afterAll(() => fixture?.[Symbol.asyncDispose]())

describe("a long YAML document", () => {
  const path = "/tenants/a/api/v1/namespaces/default/configmaps"
  const send = (text: string, query = "", contentType = "application/yaml"): Promise<RawAnswer> =>
    fixture.request(`${path}${query}`, {
      ...a,
      method: query === "" ? "POST" : "PATCH",
      body: text,
      headers: { "content-type": contentType },
    })
  const lines = Array.from({ length: 30_000 }, (_, index) => `  key-${index}: "0${index}"\n`).join("")
  const text = (name: string): string => `metadata: {name: ${name}}\ndata:\n${lines}`

  test("is stored correctly", async () => {
    expect((await send(text("long"))).code).toBe(201)
    const stored = await fixture.client("/tenants/a", a).get<ConfigMap>(configMaps, "default", "long")
    expect(Object.keys(stored.data ?? {})).toHaveLength(30_000)
    expect(stored.data?.["key-29999"]).toBe("029999")
  })

  test("is applied, with warnings", async () => {
    const apply = `apiVersion: v1\nkind: ConfigMap\n${text("applied")}`
    const query = (name: string): string => `/${name}?fieldManager=f`
    const type = "application/apply-patch+yaml"
    expect((await send(apply, query("applied"), type)).code).toBe(201)
    const twice = await send(`${apply}  key-0: again\n`, query("applied"), type)
    expect(twice.headers["warning"]).toContain('line 30005: key \\"key-0\\" already set in map')
    const faulty = await send(`${text("faulty")}  - x: [\n`)
    expect(faulty.json()).toMatchObject({
      code: 400,
      message: expect.stringContaining("yaml: line 30002: did not find expected key") as string,
    })
    expect((await send(`${text("long")}${lines.repeat(2)}`)).code).toBe(413)
  })
})
