import { expect, test } from "vitest"
import type { RequestContext } from "../request/context.ts"
import { contextOf, createControlPlaneStub } from "../testing/control-plane-stub.ts"
import { decodeBody } from "./body.ts"
import { expectedOf } from "./expected.ts"

const resource = { group: "", version: "v1", resource: "configmaps" }
const bytes = Buffer.from(
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1"},"data":{"y":"2"},"other":1}`,
)

test("a body is decoded in steps, with turns of other requests in between", async () => {
  await using stub = createControlPlaneStub()
  const definition = stub.resources.registry(resource)?.definition
  if (definition === undefined) throw new Error("no config maps")
  const decode = (pause: NonNullable<RequestContext["pause"]>) => {
    const warnings: string[] = []
    const ctx: RequestContext = { ...contextOf(stub, resource), warn: (text) => void warnings.push(text), pause }
    const object = decodeBody(ctx, { bytes }, expectedOf(definition), "Warn")
    return { object, warnings }
  }
  const atOnce = decode(() => undefined)
  expect(atOnce.object).toMatchObject({ metadata: { name: "a" }, data: { y: "2" } })
  let turns = 0
  const inSteps = decode(() => Promise.resolve().then(() => void turns++))
  expect(inSteps.object).toBeInstanceOf(Promise)
  expect(await inSteps.object).toEqual(atOnce.object)
  expect(inSteps.warnings).toEqual(atOnce.warnings)
  expect(inSteps.warnings).toHaveLength(2)
  // After it has become a text, been parsed and counted, looked at for what it repeats, read without that, merged with it, and decoded, and
  // after defaults of each sort.
  expect(turns).toBe(9)
})
