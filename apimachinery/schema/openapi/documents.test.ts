import { describe, expect, test } from "vitest"
import { builtInResources, schemaOf } from "../facts.ts"
import { compileStructural } from "../structural/structural.ts"
import { openAPIV2, type OpenAPIDefinition, openAPIV3, openAPIHash, openAPIV3Paths } from "./documents.ts"
import { gatherPieces } from "../testing/gather-pieces.ts"
import { printPieces } from "./pieces.ts"
import { encodeOpenAPIV2 } from "./protobuf-v2.ts"
import { encodeOpenAPIV3 } from "./protobuf-v3.ts"

const builtIn: OpenAPIDefinition[] = builtInResources().map((resource) => {
  const schema = schemaOf(resource)
  if (schema === undefined) throw new Error(`no schema of ${resource.kind}`)
  return { ...resource, schema }
})
const custom: OpenAPIDefinition = {
  group: "example.com",
  version: "v1",
  resource: "foos",
  kind: "Foo",
  listKind: "FooList",
  namespaced: true,
  verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
  subresources: [],
  schema: compileStructural({
    type: "object",
    description: "A foo.",
    properties: { spec: { type: "object", properties: { n: { type: "integer", default: 1, nullable: true } } } },
  }).schema,
}

const v3 = (path: string, definitions: readonly OpenAPIDefinition[]): Document3 =>
  gatherPieces(openAPIV3(path, definitions) ?? []) as unknown as Document3
const v2 = (definitions: readonly OpenAPIDefinition[]) =>
  gatherPieces(openAPIV2(definitions)) as unknown as { definitions: Record<string, unknown>; paths: object }

interface Document3 {
  paths: Record<string, Record<string, { [key: string]: unknown }>>
  components: { schemas: Record<string, { [key: string]: unknown }> }
}

/** Every $ref in a document must have a target in it. */
function danglingRefs(document: unknown): string[] {
  const found: string[] = []
  JSON.stringify(document, (key, value: unknown) => {
    if (key === "$ref" && typeof value === "string") {
      const steps = value.replace("#/", "").split("/")
      let at: unknown = document
      for (const step of steps) at = (at as Record<string, unknown> | undefined)?.[step]
      if (at === undefined) found.push(value)
    }
    return value
  })
  return found
}

describe("openAPIV3()", () => {
  const document = v3("apis/apps/v1", builtIn)

  test("has kind, action and the parameters that kubectl needs", () => {
    const patch = document.paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]?.["patch"]
    expect(patch).toMatchObject({
      operationId: "patchAppsV1NamespacedDeployment",
      "x-kubernetes-action": "patch",
      "x-kubernetes-group-version-kind": { group: "apps", version: "v1", kind: "Deployment" },
    })
    const parameters = (patch?.["parameters"] ?? []) as { name: string }[]
    expect(parameters.map((one) => one.name)).toEqual(expect.arrayContaining(["fieldValidation", "dryRun", "force"]))
  })

  test("has patch strategies and kinds in the schemas", () => {
    const { schemas } = document.components
    expect(schemas["io.k8s.api.apps.v1.Deployment"]).toMatchObject({
      "x-kubernetes-group-version-kind": [{ group: "apps", version: "v1", kind: "Deployment" }],
    })
    expect(schemas["io.k8s.api.core.v1.PodSpec"]).toMatchObject({
      required: ["containers"],
      properties: {
        containers: {
          type: "array",
          "x-kubernetes-patch-merge-key": "name",
          "x-kubernetes-patch-strategy": "merge",
          items: { allOf: [{ $ref: "#/components/schemas/io.k8s.api.core.v1.Container" }] },
        },
        restartPolicy: { type: "string", enum: ["Always", "Never", "OnFailure"] },
      },
    })
  })

  test("publishes custom resources with their descriptions and the common metadata", () => {
    const own = v3("apis/example.com/v1", [custom])
    expect(own.components.schemas["com.example.v1.Foo"]).toMatchObject({
      description: "A foo.",
      properties: {
        apiVersion: { type: "string" },
        metadata: { allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" }] },
        spec: { properties: { n: { type: "integer", default: 1, nullable: true } } },
      },
      "x-kubernetes-group-version-kind": [{ group: "example.com", version: "v1", kind: "Foo" }],
    })
    expect(Object.keys(own.paths)).toContain("/apis/example.com/v1/foos")
  })

  test.each(openAPIV3Paths([...builtIn, custom]))("%s has no dangling references", (path) => {
    const one = v3(path, [...builtIn, custom])
    expect(Object.keys(one.paths).length).toBeGreaterThan(0)
    expect(danglingRefs(one)).toEqual([])
  })

  test("has the common parameters of a path once", () => {
    const scale = document.paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]
    const names = (parameters: unknown): string[] => (parameters as { name: string }[]).map(({ name }) => name)
    expect(names(scale?.["parameters"])).toEqual(["name", "namespace", "pretty"])
    expect(names(scale?.["put"]?.["parameters"])).toEqual(["dryRun", "fieldManager", "fieldValidation"])
    expect(scale?.["get"]?.["parameters"]).toBeUndefined()
  })

  test("returns nothing for versions that are not served", () => {
    expect(openAPIV3("apis/absent/v1", builtIn)).toBeUndefined()
    expect(openAPIV3("apis/example.com", [custom])).toBeUndefined()
  })

  test("is the same in pieces and in protobuf", () => {
    const pieces = openAPIV3("apis/apps/v1", builtIn) ?? []
    expect(JSON.parse([...printPieces(pieces)].join(""))).toEqual(JSON.parse(JSON.stringify(document)))
    const bytes = Buffer.concat([...encodeOpenAPIV3(openAPIV3("apis/apps/v1", builtIn) ?? [])])
    expect(bytes.subarray(0, 7)).toEqual(Buffer.from([0x0a, 5, ...Buffer.from("3.0.0")]))
    expect(bytes.includes("replaceAppsV1NamespacedDeploymentScale")).toBe(true)
  })
})

describe("the index of version 3", () => {
  test("lists each group and group version once, and paths without a group", () => {
    const paths = openAPIV3Paths([...builtIn, custom])
    expect(paths).toEqual([...new Set(paths)].sort())
    expect(paths).toEqual(expect.arrayContaining(["api", "api/v1", "apis/apps", "apis/apps/v1", "apis/example.com/v1"]))
    expect(paths).toHaveLength(48)
  })

  test("has hashes that depend on the document and its custom resources", () => {
    const hashes = [
      openAPIHash("apis/a/v1", "1"),
      openAPIHash("apis/a/v1", "2"),
      openAPIHash("apis/a/v2", "1"),
      openAPIHash("apis/a/v1", ""),
    ]
    expect(new Set(hashes).size).toBe(hashes.length)
    expect(openAPIHash("apis/a/v1", "1")).toMatch(/^[0-9A-F]{128}$/)
    expect(openAPIHash("apis/a/v1", "1")).toBe(hashes[0])
  })
})

describe("openAPIV2()", () => {
  const document = v2([...builtIn, custom])

  test("has no dangling references", () => {
    expect(danglingRefs(document)).toEqual([])
  })

  test("omits from custom schemas what version 2 cannot express", () => {
    expect(document.definitions["com.example.v1.Foo"]).toMatchObject({
      properties: { spec: { properties: { n: {} } } },
    })
    expect(JSON.stringify(document.definitions["com.example.v1.Foo"])).not.toMatch(/nullable|default/)
  })

  test("is smaller in protobuf, and begins with the version", () => {
    const bytes = Buffer.concat([...encodeOpenAPIV2(openAPIV2([custom]))])
    expect(bytes.subarray(0, 5)).toEqual(Buffer.from([0x0a, 3, 0x32, 0x2e, 0x30]))
    expect(bytes.includes("com.example.v1.Foo")).toBe(true)
    expect(bytes.length).toBeLessThan(JSON.stringify(v2([custom])).length)
  })
})
