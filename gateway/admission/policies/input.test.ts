import { expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes } from "../chain.ts"
import { PolicyInput } from "./input.ts"

test("the object is printed once, until it is modified", async () => {
  const schema = { type: "object", fields: {} }
  const definition = { group: "", version: "v1", kind: "Thing", schema } as unknown as ResourceDefinition
  const object = { metadata: { name: "a" } } as KubeObject
  const attributes = { object, kind: { group: "", version: "v1", kind: "Thing" }, definition } as AdmissionAttributes
  const input = new PolicyInput({} as RequestContext, attributes)
  const shown = await input.shown(definition)
  expect(shown).toEqual(object)
  expect(await input.conversionFault(definition)).toBeUndefined()
  expect(await input.shown(definition)).toBe(shown)
  object.metadata.name = "b"
  input.forget()
  expect((await input.shown(definition))?.metadata.name).toBe("b")
})
