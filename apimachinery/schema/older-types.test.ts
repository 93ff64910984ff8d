import { expect, test } from "vitest"
import { decodeObject } from "./decode/decode.ts"
import { schemaOf } from "./facts.ts"
import { inOlderTypes, olderScales } from "./older-types.ts"
import type { Json } from "../object.ts"
import type { Schema } from "./schema.ts"

const served = schemaOf({ group: "apps", version: "v1", kind: "Deployment" }) as Schema

test.each<[Json, string]>([
  [{ spec: "x" }, "Deployment.spec of type v1beta1.DeploymentSpec"],
  [{ spec: { replicas: "x" } }, "DeploymentSpec.spec.replicas of type int32"],
  [{ spec: { strategy: { type: 5 } } }, "DeploymentStrategy.spec.strategy.type of type v1beta1.DeploymentStrategyType"],
  [{ spec: { template: 5 } }, "DeploymentSpec.spec.template of type v1.PodTemplateSpec"],
  [{ status: { conditions: 5 } }, "DeploymentStatus.status.conditions of type []v1beta1.DeploymentCondition"],
  [{ status: { conditions: [{ status: 5 }] } }, "status.conditions.status of type v1.ConditionStatus"],
])("in %j, types have the names of their version", (value, words) => {
  const schema = inOlderTypes(served, "apps/v1beta1")
  expect(() => decodeObject(schema, structuredClone(value), false)).toThrow(words)
})

test.each([
  ["apps/v1beta1", true],
  ["extensions/v1beta1", true],
  ["apps/v1beta2", false],
])("of the older versions of a Deployment, %s may ask to be rolled back: %s", (apiVersion, may) => {
  const schema = inOlderTypes(served, apiVersion)
  const decoded = decodeObject(schema, { spec: { rollbackTo: { revision: 3 } } }, true)
  expect(decoded.unknown).toEqual(may ? [] : ['unknown field "spec.rollbackTo"'])
})

const scale = schemaOf({ group: "autoscaling", version: "v1", kind: "Scale" }) as Schema

test.each<[string, Schema]>([
  ["a Deployment", inOlderTypes(served, "apps/v1beta1")],
  ["a Scale", olderScales(scale).get("apps/v1beta1") as Schema],
])("%s has no fields but those of its type, whatever they are called", (_what, schema) => {
  const value = { constructor: {}, spec: { toString: {}, rollbackTo: { valueOf: 1 } }, status: { constructor: {} } }
  const { unknown } = decodeObject(schema, value, true)
  expect(unknown).toEqual(
    expect.arrayContaining(["constructor", "spec.toString"].map((path) => `unknown field "${path}"`)),
  )
})

test("types are made once", () => {
  expect(inOlderTypes(served, "apps/v1beta1")).toBe(inOlderTypes(served, "apps/v1beta1"))
  expect(inOlderTypes(served, "apps/v1beta1")).not.toBe(inOlderTypes(served, "apps/v1beta2"))
})
