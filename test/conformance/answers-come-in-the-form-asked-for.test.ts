import { afterAll, beforeAll, expect, test } from "vitest"
import { gunzipSync } from "node:zlib"
import { request } from "node:https"
import { parse } from "yaml"
import type { ConfigMap } from "../../apimachinery/object.ts"
import { configMaps } from "../../client/resources.ts"
import { startTestGateway, type TestGateway, type TestTenant } from "../../gateway/testing/start-gateway.ts"

let gateway: TestGateway
let tenant: TestTenant
const path = "/tenants/a/api/v1/namespaces/default/configmaps"
const meta = "g=meta.k8s.io;v=v1"

beforeAll(async () => {
  gateway = await startTestGateway()
  tenant = await gateway.createTenant("a")
  const client = gateway.client("/tenants/a", tenant)
  for (let i = 0; i < 100; i++) {
    await client.create<ConfigMap>(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `c${i}`, namespace: "default", labels: { test: "yes" } },
      data: { text: "x".repeat(4096) },
    })
  }
})

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
})

const get = (at: string, accept: string) => gateway.request(at, { ...tenant, headers: { accept } })

test.each([
  ["application/json", "ConfigMap"],
  ["application/yaml", "ConfigMap"],
  ["*/*", "ConfigMap"],
  ["application/json;q=0.5,application/yaml;q=0.9", "ConfigMap"],
  [`application/vnd.kubernetes.protobuf;as=Table;${meta},application/json`, "ConfigMap"],
  [`application/json;as=Table;${meta},application/json`, "Table"],
  [`application/json;as=PartialObjectMetadata;${meta}`, "PartialObjectMetadata"],
  ["application/json;as=Table;g=meta.k8s.io;v=v1beta1,application/json", "Table"],
])("%s: a %s", async (accept, kind) => {
  const answer = await get(`${path}/c1`, accept)
  expect(answer.code).toBe(200)
  expect(parse(answer.text)).toMatchObject({ kind })
})

test("what cannot be answered is refused", async () => {
  expect((await get(`${path}/c1`, "text/html")).code).toBe(406)
  expect((await get(`${path}/c1`, "application/*")).json()).toMatchObject({
    code: 406,
    message:
      "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  })
  expect((await get(`${path}/c1`, `application/vnd.kubernetes.protobuf;as=Table;${meta}`)).json()).toMatchObject({
    code: 406,
    message:
      "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  })
  expect((await get(path, `application/json;as=PartialObjectMetadata;${meta}`)).json()).toMatchObject({
    code: 406,
    message: "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)",
  })
  expect((await get(`${path}?watch=1`, "application/yaml")).text).toContain("code: 406")
})

test("a list selects, and reduces", async () => {
  const table = await get(`${path}?labelSelector=test=yes&limit=3`, `application/json;as=Table;${meta}`)
  expect(table.json()).toMatchObject({ kind: "Table", metadata: { continue: expect.any(String) as string } })
  expect((table.json() as { rows: unknown[] }).rows).toHaveLength(3)
  const partial = await get(`${path}?labelSelector=test=yes`, `application/json;as=PartialObjectMetadataList;${meta}`)
  expect(partial.text).not.toContain("xxxx")
})

test("a long list is compressed for who takes it, and is the same", async () => {
  const plain = await get(`${path}?labelSelector=test=yes`, "application/json")
  const body = await new Promise<Buffer>((resolve, reject) => {
    const { hostname, port } = new URL(gateway.url)
    const options = {
      hostname,
      port,
      path: `${path}?labelSelector=test=yes`,
      agent: false,
      checkServerIdentity: () => undefined,
    }
    request(
      {
        ...options,
        ca: gateway.gateway.certificateAuthority,
        cert: tenant.certificate,
        key: tenant.key,
        headers: { "accept-encoding": "gzip" },
      },
      (response) => {
        expect(response.headers["content-encoding"]).toBe("gzip")
        const chunks: Buffer[] = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("end", () => resolve(Buffer.concat(chunks)))
        response.on("error", reject)
      },
    )
      .on("error", reject)
      .end()
  })
  expect(body.length).toBeLessThan(plain.text.length / 10)
  expect(JSON.parse(gunzipSync(body).toString())).toEqual(plain.json())
})

test("a body beyond the limit is 413", async () => {
  const body = { metadata: { name: "big" }, data: { x: "x".repeat(3 * 1024 * 1024) } }
  const answer = await gateway.request(path, { ...tenant, method: "POST", body })
  expect(answer.code).toBe(413)
  expect(answer.json()).toMatchObject({ reason: "RequestEntityTooLarge" })
})
