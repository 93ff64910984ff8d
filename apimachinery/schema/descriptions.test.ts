import { expect, test } from "vitest"
import { describeClass, loadDescriptions } from "./descriptions.ts"
import { kindsOfTypes, schemaOf } from "./facts.ts"
import { openAPIV3 } from "./openapi/documents.ts"
import { gatherPieces } from "./openapi/pieces.ts"

test("a declaration's comments are read as they were before they became comments", () => {
  const text = [
    "/**",
    '* A thing\\\'s \\"words\\", from *_/ to *_/.',
    "*/",
    "export declare class V1Thing {",
    "    /**",
    "    * What it is by default.",
    "    */",
    "    '_default'?: any;",
    "    'spec'?: V1ThingSpec;",
    "    /**",
    "    * Mandatory.",
    "    */",
    "    'x_kubernetes_map_type': string;",
    "}",
    "",
  ].join("\n")
  expect(describeClass(text)).toEqual({
    type: `A thing's "words", from */ to */.`,
    fields: new Map([
      ["default", "What it is by default."],
      ["x-kubernetes-map-type", "Mandatory."],
    ]),
  })
})

test.each([
  ["What it is. More of it.  Another paragraph. The end.", "What it is. More of it.\n\nAnother paragraph. The end."],
  ["An author's.  Two spaces.  After each. But one.", "An author's.  Two spaces.  After each. But one."],
  ["One of:   - a    - b", "One of:\n  - a\n   - b"],
])("lines are guessed: %j", (comment, words) => {
  const { type } = describeClass(`/**\n* ${comment}\n*/\nexport declare class V1Thing {\n}\n`)
  expect(type).toBe(words)
})

test("every kind that is stored is described, and every word belongs to a field there is", async () => {
  const descriptions = await loadDescriptions()
  const undescribed: string[] = []
  const unknown: string[] = []
  for (const [name, [kind]] of kindsOfTypes()) {
    const described = descriptions.of(name)
    if (described?.type === undefined) undescribed.push(name)
    const fields = kind === undefined ? undefined : schemaOf(kind)?.fields
    for (const field of described?.fields.keys() ?? [])
      if (fields?.[field] === undefined) unknown.push(`${name}.${field}`)
  }
  // What is never shown by explain: options of requests, and forms of answers.
  expect(undescribed.filter((name) => !/Options$|\.(PartialObjectMetadata|Table|ConversionReview)/.test(name))).toEqual(
    [
      "io.k8s.api.core.v1.List",
      "io.k8s.api.core.v1.PodStatusResult",
      "io.k8s.api.core.v1.RangeAllocation",
      "io.k8s.api.core.v1.SerializedReference",
    ],
  )
  expect(unknown).toEqual([])
})

test("they stand in the documents", async () => {
  const schema = schemaOf({ group: "", version: "v1", kind: "Pod" })
  if (schema === undefined) throw new Error("no pods")
  const pods = { group: "", version: "v1", resource: "pods", kind: "Pod", listKind: "PodList", namespaced: true }
  const definition = { ...pods, verbs: ["get"], subresources: [], schema }
  const pieces = openAPIV3("api/v1", [definition], await loadDescriptions()) ?? []
  const document = gatherPieces(pieces) as unknown as {
    components: { schemas: Record<string, { properties: Record<string, object> }> }
  }
  expect(document.components.schemas["io.k8s.api.core.v1.PodSpec"]).toMatchObject({
    description: "PodSpec is a description of a pod.",
    properties: { containers: { description: expect.stringContaining("List of containers") as string } },
  })
})
