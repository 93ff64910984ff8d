import { expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { compileSchema } from "../../custom-resources/schemas.ts"
import type { CustomResourceVersion } from "../../custom-resources/types.ts"
import { createResourceTable } from "../../registry/resource-table.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"
import { addCustomDefaults, convertCustom } from "./custom-kind.ts"

const openAPIV3Schema = { type: "object", properties: { a: { type: "string", default: "x" } } }
const schema = compileSchema({ name: "v1", schema: { openAPIV3Schema } } as unknown as CustomResourceVersion)

test("a kind that discovery does not show has all of its versions", async () => {
  const definitions = ["v1", "v2"].map((version) => {
    const customResource = { undiscoverable: true, unserved: () => undefined }
    return { group: "a", version, kind: "A", resource: "as", storagePrefix: "a/as", schema, customResource }
  }) as unknown as ResourceDefinition[]
  const resources = createResourceTable()
  resources.setCustom(definitions)
  const ctx = { controlPlane: { resources } } as unknown as RequestContext
  const [definition] = definitions as [ResourceDefinition]
  const made = (apiVersion: string) => ({ apiVersion, kind: "A", metadata: {} }) as KubeObject
  for (const version of ["a/v1", "a/v2"]) {
    const object = made(version)
    addCustomDefaults(ctx, definition, object)
    expect(object["a"]).toBe("x")
    expect(await convertCustom(ctx, object, definition)).toEqual({ ...made("a/v1"), a: "x" })
  }
  await expect(convertCustom(ctx, made("a/v3"), definition)).rejects.toThrow("invalid group/version")
})
