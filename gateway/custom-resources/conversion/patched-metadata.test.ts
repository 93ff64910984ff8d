import { expect, test } from "vitest"
import { FieldPath } from "../../../apimachinery/field-errors.ts"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { compileStructural } from "../../../apimachinery/schema/structural/structural.ts"
import { webhookConversion } from "./webhook.ts"

const { schema } = compileStructural({ type: "object" }, FieldPath.root())

/** By a webhook that gives each object metadata with a label. */
const conversion = webhookConversion({
  config: {},
  reviewVersions: ["v1"],
  group: "g",
  version: "v2",
  storageVersion: "v1",
  schemaOf: () => schema,
  call: async (_config, review) => {
    const { request } = review as {
      request: { uid: string; desiredAPIVersion: string; objects: Record<string, Json>[] }
    }
    const { uid, desiredAPIVersion, objects } = request
    const convertedObjects = objects.map((object) => ({
      ...object,
      apiVersion: desiredAPIVersion,
      metadata: { labels: { a: "b" } },
    }))
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "ConversionReview",
      response: { uid, result: { status: "Success" }, convertedObjects },
    }
  },
})

const convert = async (more: Record<string, Json>): Promise<KubeObject> =>
  conversion.toStored({ apiVersion: "g/v2", kind: "A", ...more } as unknown as KubeObject)

test("an object whose metadata a patch has removed is converted", async () => {
  expect(await convert({ spec: {} })).toMatchObject({ apiVersion: "g/v1", metadata: { labels: { a: "b" } } })
})

test.each<[string, Json]>([
  ["metadata of type <nil> in input", null],
  ["metadata of type int64 in input", 5],
  ["metadata of type []interface {} in input", []],
  ["metadata.labels of type int64 in original", { labels: 5 }],
])("invalid %s object is the error, where a patch has made such", async (fault, metadata) => {
  await expect(convert({ metadata })).rejects.toThrow(`returned invalid metadata: invalid ${fault} object`)
})
