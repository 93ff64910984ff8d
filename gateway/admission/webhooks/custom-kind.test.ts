import { expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { compileSchema } from "../../custom-resources/schemas.ts"
import type { CustomResourceVersion } from "../../custom-resources/types.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"
import { addCustomDefaults, convertCustom } from "./custom-kind.ts"

const openAPIV3Schema = { type: "object", properties: { a: { type: "string", default: "x" } } }
const schema = compileSchema({ name: "v1", schema: { openAPIV3Schema } } as unknown as CustomResourceVersion)

test("a kind that discovery does not show has its own version", async () => {
  const ctx = { controlPlane: { resources: { definitions: () => [] } } } as unknown as RequestContext
  const definition = {
    group: "a",
    version: "v1",
    kind: "A",
    schema,
    customResource: {},
  } as unknown as ResourceDefinition
  const object = { apiVersion: "a/v1", kind: "A", metadata: {} } as KubeObject
  addCustomDefaults(ctx, definition, object)
  expect(object["a"]).toBe("x")
  expect(await convertCustom(ctx, object, definition)).toBe(object)
  await expect(convertCustom(ctx, { ...object, apiVersion: "a/v2" }, definition)).rejects.toThrow(
    "invalid group/version",
  )
})
