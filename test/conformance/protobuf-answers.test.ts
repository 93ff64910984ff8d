import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { parseGroupVersion, type Json } from "../../apimachinery/object.ts"
import { schemaOf } from "../../apimachinery/schema/facts.ts"
import { parseProtobuf } from "../../apimachinery/schema/protobuf/parse.ts"
import { encodeProtobuf } from "../../apimachinery/schema/protobuf/encode.ts"
import {
  startTestGateway,
  type RawAnswer,
  type TestGateway,
  type TestTenant,
} from "../../gateway/testing/start-gateway.ts"

const mediaType = "application/vnd.kubernetes.protobuf"
const metadata = "g=meta.k8s.io;v=v1"
const prefix = "/tenants/a"

let gateway: TestGateway
let tenant: TestTenant

beforeAll(async () => {
  gateway = await startTestGateway()
  tenant = await gateway.createTenant("a")
})
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
})

const schemaNamed = (apiVersion: string, kind: string) => {
  const schema = schemaOf({ ...parseGroupVersion(apiVersion), kind })
  if (schema === undefined) throw new Error(`no schema of ${apiVersion} ${kind}`)
  return schema
}

const get = (path: string, accept = mediaType): Promise<RawAnswer> =>
  gateway.request(prefix + path, { ...tenant, headers: { accept } })

function read({ bytes, headers }: RawAnswer, apiVersion: string, kind: string): Json {
  expect(headers["content-type"]).toBe(mediaType)
  return parseProtobuf(bytes, schemaNamed(apiVersion, kind))
}

const send = (method: string, path: string, object: { apiVersion: string; kind: string; [field: string]: unknown }) =>
  gateway.request(prefix + path, {
    ...tenant,
    method,
    headers: { accept: mediaType, "content-type": mediaType },
    body: encodeProtobuf(schemaNamed(object.apiVersion, object.kind), object as unknown as Json),
  })

const configMaps = "/api/v1/namespaces/default/configmaps"
const mine = `${configMaps}?labelSelector=test=yes`
const configMap = (name: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels: { test: "yes" } },
  data: { a: name },
})

describe("objects", () => {
  test("are written and answered", async () => {
    const created = await send("POST", configMaps, configMap("one"))
    expect(created.code).toBe(201)
    expect(read(created, "v1", "ConfigMap")).toMatchObject({
      kind: "ConfigMap",
      metadata: { name: "one", namespace: "default", resourceVersion: expect.any(String) as Json },
      data: { a: "one" },
    })
    expect((await get(`${configMaps}/one`)).bytes).toEqual(created.bytes)
    const gone = await gateway.request(`${prefix}${configMaps}/one`, {
      ...tenant,
      method: "DELETE",
      headers: { accept: mediaType },
    })
    expect(read(gone, "v1", "Status")).toMatchObject({ status: "Success", details: { name: "one" } })
  })

  test("that are never stored are answered, too", async () => {
    const review = await send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { verb: "get", resource: "pods" } },
    })
    expect(read(review, "authorization.k8s.io/v1", "SelfSubjectAccessReview")).toMatchObject({
      status: { allowed: true },
    })
    const token = await send("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { audiences: ["x"] },
    })
    expect(read(token, "authentication.k8s.io/v1", "TokenRequest")).toMatchObject({
      status: { token: expect.any(String) as Json, expirationTimestamp: expect.any(String) as Json },
    })
  })

  test("errors are Status messages", async () => {
    const missing = await get(`${configMaps}/none`)
    expect(missing.code).toBe(404)
    expect(read(missing, "v1", "Status")).toMatchObject({ reason: "NotFound", details: { name: "none" }, code: 404 })
  })
})

describe("lists", () => {
  test("have their items and where they go on", async () => {
    for (const name of ["a", "b", "c"]) await send("POST", configMaps, configMap(name))
    const all = read(await get(mine), "v1", "ConfigMapList") as { items: { metadata: { name: string } }[] }
    expect(all.items.map((item) => item.metadata.name)).toEqual(["a", "b", "c"])
    const page = read(await get(`${mine}&limit=2`), "v1", "ConfigMapList")
    expect(page).toMatchObject({ metadata: { continue: expect.any(String) as Json } })
  })

  test("come as metadata alone", async () => {
    const list = await get(mine, `${mediaType};as=PartialObjectMetadataList;${metadata}`)
    expect(read(list, "meta.k8s.io/v1", "PartialObjectMetadataList")).toMatchObject({
      items: [{ metadata: { name: "a" } }, { metadata: { name: "b" } }, { metadata: { name: "c" } }],
    })
  })

  test("large ones are compressed", async () => {
    for (let index = 0; index < 4; index++) {
      await send("POST", configMaps, { ...configMap(`large-${index}`), data: { text: "x".repeat(50_000) } })
    }
    const answer = await gateway.request(`${prefix}${configMaps}`, {
      ...tenant,
      headers: { accept: mediaType, "accept-encoding": "gzip" },
    })
    expect(answer.headers["content-encoding"]).toBe("gzip")
    expect(answer.bytes.length).toBeLessThan(20_000)
  })
})

describe("watches", () => {
  test("are frames of events", async () => {
    const answer = await get(`/api/v1/namespaces?watch=1&timeoutSeconds=1`, `${mediaType};stream=watch`)
    expect(answer.headers["content-type"]).toBe(`${mediaType};stream=watch`)
    const event = schemaNamed("v1", "WatchEvent")
    const kinds: Json[] = []
    for (let at = 0; at < answer.bytes.length;) {
      const length = answer.bytes.readUInt32BE(at)
      const frame = answer.bytes.subarray(at + 4, at + 4 + length)
      at += 4 + length
      expect(event.fields?.["type"]?.protobuf).toBe(1)
      expect(frame.subarray(0, 7).toString("latin1")).toBe("\n\x05ADDED")
      const object = frame.subarray(frame.indexOf("k8s\0"))
      kinds.push((parseProtobuf(object, schemaNamed("v1", "Namespace")) as { kind: string }).kind)
    }
    expect(kinds).toEqual(["Namespace", "Namespace", "Namespace", "Namespace"])
  })
})

describe("discovery", () => {
  test.each([
    ["/api", "APIVersions"],
    ["/apis", "APIGroupList"],
    ["/apis/apps", "APIGroup"],
    ["/apis/apps/v1", "APIResourceList"],
    ["/api/v1", "APIResourceList"],
  ])("%s is an %s", async (path, kind) => {
    const { apiVersion: _version, ...document } = (await get(path, "application/json")).json() as { apiVersion: string }
    expect(read(await get(path), "v1", kind)).toMatchObject(document)
  })
})

test("custom resources have no messages, their metadata has", async () => {
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  }
  expect((await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)).code).toBe(201)
  const things = "/apis/example.com/v1/namespaces/default/things"
  await expect.poll(async () => (await get(things, "application/json")).code).toBe(200)
  expect(read(await get(things), "v1", "Status")).toMatchObject({ code: 406 })
  expect((await get(things, `${mediaType},application/json`)).json()).toMatchObject({ kind: "ThingList" })
  const partial = await get(things, `${mediaType};as=PartialObjectMetadataList;${metadata}`)
  expect(read(partial, "meta.k8s.io/v1", "PartialObjectMetadataList")).toMatchObject({
    kind: "PartialObjectMetadataList",
  })
})
