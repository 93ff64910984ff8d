import { expect, test } from "vitest"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { compileSchema } from "../schemas.ts"
import { webhookConversion } from "./webhook.ts"

const text = "x".repeat(50_000)
const objects = Array.from({ length: 40 }, (_, index): KubeObject => {
  const name = `o${index}`
  return { apiVersion: "example.com/v1", kind: "One", metadata: { name, uid: name }, text } as KubeObject
})

/** Calls `seen` for each use of the schema, which is for each object a few times, and `called` for each review. */
function conversion(seen: () => void, called: () => void) {
  const schema = { openAPIV3Schema: { type: "object", properties: { text: { type: "string" } } } }
  const compiled = compileSchema({ name: "v1", schema })
  const call = async (_: unknown, review: Json): Promise<Json> => {
    called()
    const { apiVersion, request } = review as { apiVersion: string; request: { uid: string; objects: Json[] } }
    const convertedObjects = request.objects.map((one) => ({ ...(one as object), apiVersion: "example.com/v2" }))
    const response = { uid: request.uid, result: { status: "Success" }, convertedObjects }
    return { kind: "ConversionReview", apiVersion, response }
  }
  return webhookConversion({
    config: {},
    reviewVersions: ["v1"],
    group: "example.com",
    version: "v2",
    storageVersion: "v1",
    schemaOf: () => {
      seen()
      return compiled
    },
    call,
  })
}

test("others may have their turn between any two objects", async () => {
  let uses = 0
  let most = 0
  const seen = (): void => void (most = Math.max(most, ++uses))
  const pause = (): undefined => void (uses = 0)
  const read = await conversion(seen, () => undefined).fromStored(objects, pause)
  expect(read.map(({ metadata }) => metadata.name)).toEqual(objects.map(({ metadata }) => metadata.name))
  expect(most).toBeLessThan(5)
})

test("no more objects are made for one stretch than are in one review", async () => {
  const uses = [0]
  const seen = (): void => void (uses[uses.length - 1] = (uses.at(-1) ?? 0) + 1)
  const read = await conversion(seen, () => uses.push(0)).fromStored(objects)
  expect(read).toHaveLength(objects.length)
  expect(Math.max(...uses)).toBeLessThan(objects.length)
})
