import { expect, test } from "vitest"
import { loadDescriptions } from "../descriptions.ts"
import { builtInResources, schemaOf } from "../facts.ts"
import type { JsonObject } from "../json-object.ts"
import { openAPIV2 } from "./documents.ts"
import { parseParameters } from "./parameter-descriptions.ts"
import { gatherPieces } from "../testing/gather-pieces.ts"

/** Omits methods without parameters. */
const declared = (methods: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(methods)
    .map(
      ([name, lines]) => `    /**\n${lines.map((line) => `     * ${line}\n`).join("")}     */\n    ${name}(): void;\n`,
    )
    .join("")

const methods = "createNode deleteNode listNode patchNode replaceNode readNamespacedPodLog connectGetNodeProxy"
const streams = ["PodAttach", "PodExec", "PodPortforward", "PodProxy", "PodProxyWithPath", "ServiceProxy"]
const silent = Object.fromEntries(
  [...methods.split(" "), ...streams.map((name) => `connectGetNamespaced${name}`)].map((name) => [name, ["does it"]]),
)

test("the original comments of parameters are restored", () => {
  const text = declared({
    ...silent,
    listNode: [
      "list or watch objects of kind Node",
      "@param pretty If \\&#39;true\\&#39;, it is \\&quot;pretty\\&quot;: &#x60;a &lt;&#x3D; b &amp;&amp; b &gt; 1&#x60;.",
      "@param _continue Go on.",
    ],
    patchNode: ["partially update the specified Node", "@param body", "@param force Force it."],
  })
  expect(Object.fromEntries(parseParameters(text))).toEqual({
    "ListOptions.continue": "Go on.",
    "ListOptions.pretty": "If 'true', it is \"pretty\": `a <= b && b > 1`.",
    "PatchOptions.force": "Force it.",
    "query.pretty": "If 'true', it is \"pretty\": `a <= b && b > 1`.",
  })
})

test("a missing method is reported", () => {
  const { listNode: _listNode, ...others } = silent
  expect(() => parseParameters(declared(others))).toThrow("no listNode")
})

test("line breaks are restored only in the texts that have them in kube-apiserver", () => {
  const words = `${"a".repeat(185)}  Defaults to unset`
  const about = (said: string) =>
    parseParameters(declared({ ...silent, listNode: [`@param resourceVersion ${said}`] })).get(
      "GetOptions.resourceVersion",
    )
  expect(about(words)).toBe(`${"a".repeat(185)}\n\nDefaults to unset`)
  expect(about(`Other ${words}`)).toBe(`Other ${words}`)
})

/** kube-apiserver names shared parameters of version 2 by a hash of their content: FNV-1 of the JSON. */
function hashed(parameter: JsonObject): string {
  const order = ["uniqueItems", "type", "description", "name", "in", "required", "schema"]
  const known = order.flatMap((key) => (parameter[key] === undefined ? [] : [[key, parameter[key]]]))
  let hash = 0xcbf29ce484222325n
  for (const byte of Buffer.from(JSON.stringify(Object.fromEntries(known)))) {
    hash = BigInt.asUintN(64, hash * 0x100000001b3n) ^ BigInt(byte)
  }
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(hash)
  return bytes.subarray(0, 6).toString("base64url")
}

test("shared parameters have the names of kube-apiserver, which are hashes of their texts", async () => {
  const definitions = builtInResources().flatMap((resource) => {
    const schema = schemaOf(resource)
    return schema === undefined ? [] : [{ ...resource, schema }]
  })
  const document = gatherPieces(openAPIV2(definitions, await loadDescriptions()))
  const shared = Object.entries(document["parameters"] as Record<string, JsonObject & { name: string }>)
  expect(shared.length).toBeGreaterThan(40)
  expect(shared.map(([id]) => id)).toEqual(shared.map(([, one]) => `${one.name}-${hashed(one)}`))
})
