import { describe, expect, test } from "vitest"
import { builtInResources, schemaOf } from "./facts.ts"
import { openAPIV2, type OpenAPIDefinition, openAPIV3, openAPIV3Index } from "./openapi.ts"
import { encodeOpenAPIV2 } from "./openapi-protobuf.ts"
import { compileStructural } from "./structural.ts"

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

interface Document3 {
  paths: Record<string, Record<string, { [key: string]: unknown }>>
  components: { schemas: Record<string, { [key: string]: unknown }> }
}

/** Every $ref in a document names something in it. */
function danglingRefs(document: unknown, prefix: string, names: ReadonlySet<string>): string[] {
  const found: string[] = []
  JSON.stringify(document, (key, value: unknown) => {
    if (key === "$ref" && typeof value === "string" && !names.has(value.slice(prefix.length))) found.push(value)
    return value
  })
  return found
}

describe("openAPIV3()", () => {
  const document = openAPIV3({ group: "apps", version: "v1" }, builtIn) as unknown as Document3

  test("has kind, action and the parameters kubectl looks for", () => {
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
    const own = openAPIV3({ group: "example.com", version: "v1" }, [custom]) as unknown as Document3
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

  test.each([...new Set(builtIn.map(({ group, version }) => `${group}/${version}`)), "example.com/v1"])(
    "%s refers to nothing it lacks",
    (groupVersion) => {
      const [group = "", version = ""] = groupVersion.split("/")
      const one = openAPIV3({ group, version }, [...builtIn, custom]) as unknown as Document3
      const names = new Set(Object.keys(one.components.schemas))
      expect(names.size).toBeGreaterThan(0)
      expect(danglingRefs(one, "#/components/schemas/", names)).toEqual([])
    },
  )
})

describe("openAPIV3Index()", () => {
  test("lists each group version once, and changes with the generation", () => {
    const index = (generation: number) =>
      openAPIV3Index(builtIn, () => String(generation)) as { paths: Record<string, { serverRelativeURL: string }> }
    expect(Object.keys(index(1).paths)).toHaveLength(22)
    expect(index(1).paths["apis/apps/v1"]?.serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]+$/)
    expect(index(1)).not.toEqual(index(2))
  })
})

describe("openAPIV2()", () => {
  const document = openAPIV2([...builtIn, custom]) as unknown as { definitions: Record<string, unknown>; paths: object }

  test("refers to nothing it lacks", () => {
    const names = new Set(Object.keys(document.definitions))
    expect(danglingRefs(document, "#/definitions/", names)).toEqual([])
  })

  test("leaves out of custom schemas what version 2 cannot say", () => {
    expect(document.definitions["com.example.v1.Foo"]).toMatchObject({
      properties: { spec: { properties: { n: {} } } },
    })
    expect(JSON.stringify(document.definitions["com.example.v1.Foo"])).not.toMatch(/nullable|default/)
  })

  test("is smaller as protobuf, and begins with the version", () => {
    const bytes = Buffer.from(encodeOpenAPIV2(openAPIV2([custom])))
    expect(bytes.subarray(0, 5)).toEqual(Buffer.from([0x0a, 3, 0x32, 0x2e, 0x30]))
    expect(bytes.includes("com.example.v1.Foo")).toBe(true)
    expect(bytes.length).toBeLessThan(JSON.stringify(openAPIV2([custom])).length)
  })
})
