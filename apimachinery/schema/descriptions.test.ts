import { expect, test } from "vitest"
import { loadDescriptions, parseDeclaration } from "./descriptions.ts"
import { kindsOfTypes, schemaOf } from "./facts.ts"
import { openAPIV3 } from "./openapi/documents.ts"
import { gatherPieces } from "./testing/gather-pieces.ts"

test("the original comments of a declaration are restored", () => {
  const text = [
    'import { IIoK8sApiCoreV1ThingSpec } from "./ThingSpec.js";',
    "/**",
    " * A thing, from \\*\\/ to \\*.",
    " *",
    " * Written:",
    " * 	{a: 1}",
    " * @deprecated",
    " */",
    "export interface IThing extends TypeMeta {",
    '    "apiVersion": "v1";',
    "    /**",
    "     * What it is by default.",
    "     *",
    "     * Possible values:",
    '     *  - `"A"` one.',
    "     */",
    '    "default"?: {',
    "        [key: string]: string;",
    "    };",
    '    "spec"?: IIoK8sApiCoreV1ThingSpec;',
    "    /**",
    "     * Mandatory.",
    "     */",
    '    "x-kubernetes-map-type": string;',
    "}",
    "/**",
    " * Not this.",
    " */",
    "export declare class Thing extends Model<IThing> implements IThing {",
    '    "spec"?: IIoK8sApiCoreV1ThingSpec;',
    "}",
    "export type { IThing as IIoK8sApiCoreV1Thing, Thing as IoK8sApiCoreV1Thing };",
    "",
  ].join("\n")
  expect(parseDeclaration(text)).toEqual({
    identifier: "IoK8sApiCoreV1Thing",
    type: "A thing, from */ to *.\n\nWritten:\n\t{a: 1}",
    isKind: true,
    fields: new Map([
      ["default", 'What it is by default.\n\nPossible values:\n - `"A"` one.'],
      ["x-kubernetes-map-type", "Mandatory."],
    ]),
  })
})

test("every stored kind has a description, and every description belongs to a field", async () => {
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
  // Types that `explain` never shows: options of requests, and forms of responses.
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

test("the OpenAPI documents contain the descriptions", async () => {
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
  expect(document.components.schemas["io.k8s.api.core.v1.Pod"]?.properties["spec"]).toEqual({
    description: expect.stringContaining("desired behavior of the pod") as string,
    allOf: [{ $ref: "#/components/schemas/io.k8s.api.core.v1.PodSpec" }],
    default: {},
  })
})
