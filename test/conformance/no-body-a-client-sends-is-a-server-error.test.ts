// Whatever bytes a client sends as a body, no response is a server error, and no connection hangs.

import { describe, test } from "vitest"
import { type Json, printGroupVersion } from "../../apimachinery/object.ts"
import { builtInResources, schemaOf } from "../../apimachinery/schema/facts.ts"
import { encodeProtobuf } from "../../apimachinery/schema/protobuf/encode.ts"
import { oddTexts, randomAny, randomObject } from "../../apimachinery/schema/testing/random-object.ts"
import { createRandom, pick, type Random } from "../../apimachinery/testing/random.ts"
import {
  checkFault,
  expectNoErrors,
  configMaps,
  json,
  protobuf,
  rounds,
  seed,
  send,
  useTenant,
  things,
  yaml,
} from "./anything.ts"

useTenant()

const bytes = (random: Random, length: number): Buffer => Buffer.from(Array.from({ length }, () => random(256)))

/** A nesting depth that overflows any stack unless the parser limits it. */
const deep = 200_000
const bombs: readonly (readonly [what: string, type: string, body: string | Buffer])[] = [
  ["lists in lists", json, `{"kind":"ConfigMap","apiVersion":"v1","data":${"[".repeat(deep)}`],
  ["closed lists in lists", json, `{"a":${"[".repeat(deep)}${"]".repeat(deep)}}`],
  ["objects in objects", json, `${'{"a":'.repeat(deep)}1${"}".repeat(deep)}`],
  ["lists in lists in YAML", yaml, `a: ${"[".repeat(deep)}`],
  ["lists begun in one line of YAML", yaml, "- ".repeat(500_000)],
  ["a YAML of very many keys", yaml, Array.from({ length: 3000 }, (_, index) => `k${index}: ${index}`).join("\n")],
  ["maps in maps in YAML", yaml, Array.from({ length: 1200 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
  ["a YAML that multiplies", yaml, multiplying()],
  ["a YAML that contains itself", yaml, "a: &a [*a]"],
  ["a number beyond all", json, `{"metadata":{"name":"x","generation":${"9".repeat(100_000)}}}`],
  ["a small exponent", json, '{"metadata":{"generation":1e-999999999}}'],
  ["a large exponent", json, '{"metadata":{"generation":1e999999999}}'],
  ["keys given a thousand times", json, `{${'"kind":"ConfigMap",'.repeat(1000)}"apiVersion":"v1"}`],
  [
    "bytes that are no UTF-8",
    json,
    Buffer.from('{"kind":"ConfigMap","metadata":{"name":"\xff\xfe\xc0\x80"}}', "latin1"),
  ],
  ["half a surrogate", json, '{"kind":"ConfigMap","metadata":{"name":"\\ud800"},"data":{"\\udfff":"\\ud800"}}'],
  [
    "a prototype",
    json,
    '{"__proto__":{"kind":"Pod"},"constructor":{"prototype":{"x":1}},"metadata":{"name":"p","__proto__":{"a":"b"}}}',
  ],
  [
    "prototypes as labels",
    json,
    '{"metadata":{"name":"q","labels":{"__proto__":"x","constructor":"y"},"annotations":{"__proto__":"x"}}}',
  ],
  [
    "a patch that doubles what it copies",
    json,
    JSON.stringify(Array.from({ length: 60 }, (_, index) => ({ op: "copy", from: "", path: `/data/x${index}` }))),
  ],
  ["nothing", json, ""],
  ["null", json, "null"],
  ["a list", json, "[]"],
  ["a byte order mark", json, "\ufeff{}"],
  ["a protobuf of nothing", protobuf, "k8s\0"],
  ["a protobuf that is longer than it says", protobuf, Buffer.from("6b3873000aff", "hex")],
  ["a protobuf within itself", protobuf, Buffer.concat([Buffer.from("k8s\0"), Buffer.alloc(100_000, 0x0a)])],
]

function multiplying(): string {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
  for (let index = 1; index < 12; index++) lines.push(`a${index}: &a${index} [${`*a${index - 1}, `.repeat(8)}x]`)
  return lines.join("\n")
}

describe("a body", () => {
  test.each(bombs)("that is %s", async (what, type, body) => {
    const headers = { "content-type": type }
    for (const path of [configMaps, things, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"])
      await checkFault(`${what} to ${path}`, send("POST", path, body, headers))
    await checkFault(`${what} in a delete`, send("DELETE", `${configMaps}/none`, body, headers))
    for (const patch of ["merge-patch+json", "json-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"]) {
      const patched = { "content-type": `application/${patch}` }
      await checkFault(
        `${what} as ${patch}`,
        send("PATCH", `${configMaps}/kube-root-ca.crt?fieldManager=m`, body, patched),
      )
    }
  })

  test("of random bytes", async () => {
    const random = createRandom(seed)
    for (let round = 0; round < rounds; round++) {
      const type = pick(random, [json, yaml, protobuf, "application/x", ""])
      const body = Buffer.concat([
        Buffer.from(pick(random, ["", "k8s\0", "{", '{"kind":', "---\n"])),
        bytes(random, random(400)),
      ])
      const path = pick(random, [configMaps, things, "/api/v1/namespaces/default/pods", "/apis/apps/v1/deployments"])
      await checkFault(`random bytes as ${type}`, send("POST", path, body, { "content-type": type }))
    }
  })

  test("of any kind with values nobody would write", async () => {
    const random = createRandom(seed)
    for (const resource of builtInResources()) {
      const schema = schemaOf(resource)
      if (schema === undefined || !resource.verbs.includes("create")) continue
      const { group, version, kind, namespaced } = resource
      const prefix = group === "" ? `/api/${version}` : `/apis/${group}/${version}`
      const path = `${prefix}${namespaced ? "/namespaces/default" : ""}/${resource.resource}`
      const apiVersion = printGroupVersion({ group, version })
      const object = { ...(randomObject(random, schema) as object), kind, apiVersion } as Record<string, Json>
      const metadata = {
        ...(object["metadata"] as object),
        name: `r-${random(1e9)}`,
        namespace: namespaced ? "default" : "",
      }
      const odd = { ...object, metadata: { name: metadata.name } }
      await checkFault(kind, send("POST", path, { ...object, metadata }))
      await checkFault(`${kind} with plain metadata`, send("POST", path, odd))
      const message = encodeProtobuf(schema, odd)
      message[4 + random(message.length - 4)] = random(256)
      await checkFault(`${kind} in broken protobuf`, send("POST", path, message, { "content-type": protobuf }))
      const apply = { "content-type": "application/apply-patch+yaml" }
      await checkFault(
        `${kind} applied`,
        send("PATCH", `${path}/${metadata.name}?fieldManager=f&force=true`, odd, apply),
      )
    }
  })

  test("that patches with anything", async () => {
    const random = createRandom(seed)
    const pointer = (): string =>
      Array.from(
        { length: random(4) },
        () => `/${pick(random, [...oddTexts, "metadata", "data", "-", "0", "labels"])}`,
      ).join("")
    await send("POST", configMaps, { kind: "ConfigMap", metadata: { name: "patched" }, data: { a: "b" } })
    await send("POST", things, { kind: "Thing", apiVersion: "example.com/v1", metadata: { name: "patched" }, free: {} })
    for (let round = 0; round < rounds; round++) {
      const operations = Array.from({ length: 1 + random(3) }, () => ({
        op: pick(random, ["add", "remove", "replace", "move", "copy", "test", "__proto__"]),
        path: pointer(),
        from: pointer(),
        value: randomAny(random),
      }))
      const merge = {
        [pick(random, oddTexts)]: randomAny(random),
        ...(random(2) === 0 ? {} : { metadata: randomAny(random) }),
        data: randomAny(random),
      }
      const target = pick(random, [`${configMaps}/patched`, `${things}/patched`])
      await checkFault(
        `JSON patch ${JSON.stringify(operations)}`,
        send("PATCH", target, operations, { "content-type": "application/json-patch+json" }),
      )
      for (const type of ["merge-patch+json", "strategic-merge-patch+json"])
        await checkFault(
          `${type} ${JSON.stringify(merge)}`,
          send("PATCH", target, merge, { "content-type": `application/${type}` }),
        )
    }
  })
})

test("nothing of all that was an error of the server, and no prototype is polluted", expectNoErrors)
