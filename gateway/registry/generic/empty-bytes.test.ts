// Revisions are those of kube-apiserver (test/kubernetes/differential/cases/empty-bytes.ts).

import { expect, test } from "vitest"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { decodeObject } from "../../../apimachinery/schema/decode/decode.ts"
import { openRegistry } from "./testing/open-registry.ts"

type Opened = ReturnType<typeof openRegistry>

const webhooks = (caBundle: object): object => ({
  webhooks: [
    {
      name: "a.example.com",
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      clientConfig: { url: "https://a.example", ...caBundle },
    },
  ],
})

/** As a client's body is read. */
function decoded({ registry, make }: Opened, rest: object): KubeObject {
  const object = make("a", structuredClone(rest))
  decodeObject(registry.definition.schema, object as unknown as Json, false)
  registry.definition.strategy.default?.(object)
  registry.definition.strategy.convert?.(object)
  return object
}

async function put(opened: Opened, rest: object): Promise<{ isWritten: boolean; object: KubeObject }> {
  const before = await opened.get("a")
  const { value } = await opened.update("a", ({ metadata: { resourceVersion = "" } }) => {
    const object = decoded(opened, rest)
    object.metadata.resourceVersion = resourceVersion
    return object
  })
  const object = value.object()
  return { isWritten: object.metadata.resourceVersion !== before.metadata.resourceVersion, object }
}

test("bytes that are given and none are another revision of webhooks than none, and are read alike", async () => {
  const opened = openRegistry("validatingwebhookconfigurations", "admissionregistration.k8s.io")
  await opened.create(decoded(opened, webhooks({ caBundle: "" })))
  const writes: [object, boolean, number][] = [
    [{ caBundle: "" }, false, 1],
    [{}, true, 2],
    [{}, false, 2],
    [{ caBundle: [] }, true, 3],
    [{ caBundle: "" }, false, 3],
    [{ caBundle: null }, true, 4],
  ]
  for (const [bundle, isWritten, generation] of writes) {
    const written = await put(opened, webhooks(bundle))
    expect([written.isWritten, written.object.metadata.generation]).toEqual([isWritten, generation])
    expect(JSON.stringify(written.object)).not.toContain("caBundle")
    const { items } = await opened.registry.list(opened.ctx, {})
    expect(items.map((item) => Buffer.from(item.bytes()).toString()).join("")).not.toContain("caBundle")
  }
})

test("null in a map of bytes is read as empty bytes, and always another revision", async () => {
  const opened = openRegistry("secrets")
  await opened.create(decoded(opened, { data: { k: null } }))
  const writes: [Json, boolean][] = [
    [null, true],
    [null, true],
    ["", true],
    ["", false],
    [null, true],
    ["", true],
  ]
  for (const [k, isExpected] of writes) {
    const { isWritten, object } = await put(opened, { data: { k } })
    expect([isWritten, object["data"]]).toEqual([isExpected, { k: "" }])
    expect((await opened.get("a"))["data"]).toEqual({ k: "" })
  }
})

test("bytes that are given and none stay so if the object is marked for deletion, or written as it is", async () => {
  const opened = openRegistry("validatingwebhookconfigurations", "admissionregistration.k8s.io")
  const object = decoded(opened, webhooks({ caBundle: "" }))
  object.metadata.finalizers = ["example.com/a"]
  await opened.create(object)
  const isSame = async (): Promise<boolean> => {
    const before = await opened.get("a")
    const { value } = await opened.update("a", (current) => current)
    return value.object().metadata.resourceVersion === before.metadata.resourceVersion
  }
  expect(await isSame()).toBe(true)
  await opened.remove("a")
  expect((await opened.get("a")).metadata.deletionTimestamp).toBeDefined()
  expect(await isSame()).toBe(true)
  const { isWritten } = await put(opened, { ...webhooks({ caBundle: "" }) })
  expect(isWritten).toBe(false)
})

test("texts of a secret leave its other bytes as they were given", async () => {
  const opened = openRegistry("secrets")
  await opened.create(decoded(opened, { data: { k: null }, stringData: { a: "b" } }))
  const writes: [data: object, stringData: object, isWritten: boolean][] = [
    [{ k: null }, { a: "b" }, true],
    [{ k: "" }, { a: "b" }, true],
    [{ k: "" }, { a: "b" }, false],
    [{ k: null }, { a: "b", k: "" }, false],
    [{ k: null }, { a: "b" }, true],
  ]
  for (const [data, stringData, isExpected] of writes) {
    const { isWritten, object } = await put(opened, { data, stringData })
    expect([isWritten, object["data"]]).toEqual([isExpected, { k: "", a: "Yg==" }])
  }
})
