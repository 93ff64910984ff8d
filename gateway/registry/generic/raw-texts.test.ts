// What is refused and written is as of kube-apiserver (test/kubernetes/differential/cases/raw-texts.ts).

import { expect, test } from "vitest"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { decodeObject } from "../../../apimachinery/schema/decode/decode.ts"
import { rawTextOf } from "../../../apimachinery/schema/decode/given.ts"
import { parseExactly } from "../../../apimachinery/schema/exact-integers.ts"
import { noteRawTexts } from "../../../apimachinery/schema/raw-texts.ts"
import { namespace, openRegistry } from "./testing/open-registry.ts"

type Opened = ReturnType<typeof openRegistry>

const revisionOf = (data: string, labels = ""): string =>
  `{"metadata":{"name":"a"${labels}},"revision":1,"data":${data}}`
const classOf = (parameters: string): string =>
  `{"metadata":{"name":"a"},"spec":{"config":[{"opaque":{"driver":"d.example.com","parameters":${parameters}}}]}}`

const texts = [
  '{ "b": 1.50, "a":[1e3,"< >"] }',
  '{"b":1.50,"a":[1e3,"< >"]}',
  '{"a":[1000,"< >"],"b":1.5}',
  '{"1":2,"0":1}',
]
const printed = ['{"b":1.50,"a":[1e3,"\\u003c \\u003e"]}', '{"b":1.50,"a":[1e3,"\\u003c \\u003e"]}']

/** As a client's body is read. */
function decoded({ registry, make }: Opened, json: string): KubeObject {
  const object = make("a", parseExactly(json) as object)
  const { schema, strategy } = registry.definition
  decodeObject(schema, object as unknown as Json, false)
  strategy.default?.(object)
  noteRawTexts(schema, object as unknown as Json, () => json)
  return object
}

const dataOf = (object: KubeObject): Json => (object as unknown as { data: Json }).data
const parametersOf = (object: KubeObject): Json =>
  (object as unknown as { spec: { config: { opaque: { parameters: Json } }[] } }).spec.config[0]?.opaque.parameters ??
  null

test.each(texts)("%j is kept as it was given, and may not become another text", async (text) => {
  const opened = openRegistry("controllerrevisions", "apps")
  await opened.create(decoded(opened, revisionOf(text)))
  const value = await opened.registry.get(opened.ctx, namespace, "a")
  expect(rawTextOf(dataOf(value.object()))).toBe(text)
  expect(Buffer.from(value.bytes()).toString()).toContain(
    `"data":${printed[texts.indexOf(text)] ?? text.replaceAll("< >", "\\u003c \\u003e")}`,
  )
  for (const other of texts) {
    const update = opened.update("a", () => decoded(opened, revisionOf(other, ',"labels":{"a":"b"}')))
    if (other === text) await update
    else await expect(update).rejects.toThrow("field is immutable")
  }
  // What is written in process says nothing of texts.
  await opened.update("a", (current) => ({ ...structuredClone(current), revision: 2 }))
  expect(rawTextOf(dataOf(await opened.get("a")))).toBe(text)
})

test("another text is another revision", async () => {
  const opened = openRegistry("deviceclasses", "resource.k8s.io")
  await opened.create(decoded(opened, classOf(texts[0] ?? "")))
  for (const [index, text] of [...texts, ...texts].entries()) {
    const before = await opened.get("a")
    const { value } = await opened.update("a", ({ metadata: { resourceVersion = "" } }) => {
      const object = decoded(opened, classOf(text))
      object.metadata.resourceVersion = resourceVersion
      return object
    })
    expect(value.resourceVersion === before.metadata.resourceVersion).toBe(index === 0)
    expect(rawTextOf(parametersOf(value.object()))).toBe(text)
    const { items } = await opened.registry.list(opened.ctx, {})
    expect(items.map((item) => rawTextOf(parametersOf(item.peek())))).toEqual([text])
  }
})

test("a text stays if the object is marked for deletion", async () => {
  const opened = openRegistry("deviceclasses", "resource.k8s.io")
  const object = decoded(opened, classOf(texts[0] ?? ""))
  object.metadata.finalizers = ["example.com/a"]
  await opened.create(object)
  await opened.remove("a")
  const marked = await opened.get("a")
  expect(marked.metadata.deletionTimestamp).toBeDefined()
  expect(rawTextOf(parametersOf(marked))).toBe(texts[0])
})
