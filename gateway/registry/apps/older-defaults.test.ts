import { expect, test } from "vitest"
import type { JsonObject } from "../../../apimachinery/schema/json-object.ts"
import { defaultByTemplate, defaultOlderDeployment, defaultOlderStatefulSet } from "./older-defaults.ts"

const max = 2_147_483_647
const rolling = (amount: string | number) => ({
  type: "RollingUpdate",
  rollingUpdate: { maxUnavailable: amount, maxSurge: amount },
})

test.each<[string, string, JsonObject, JsonObject]>([
  [
    "has the defaults of apps/v1beta1",
    "apps/v1beta1",
    { spec: { strategy: null } },
    { spec: { strategy: rolling("25%"), revisionHistoryLimit: 2, progressDeadlineSeconds: 600 } },
  ],
  [
    "has the defaults of extensions/v1beta1",
    "extensions/v1beta1",
    { spec: { strategy: { type: "" }, revisionHistoryLimit: 1 } },
    { spec: { strategy: rolling(1), revisionHistoryLimit: 1, progressDeadlineSeconds: max } },
  ],
  [
    "that is recreated has no rolling update",
    "apps/v1beta1",
    {
      spec: { strategy: { type: "Recreate", rollingUpdate: {} }, revisionHistoryLimit: 1, progressDeadlineSeconds: 1 },
    },
    {
      spec: { strategy: { type: "Recreate", rollingUpdate: {} }, revisionHistoryLimit: 1, progressDeadlineSeconds: 1 },
    },
  ],
  [
    "of another version is left alone",
    "apps/v1beta2",
    { metadata: {}, spec: { template: { metadata: { labels: { a: "b" } } } } },
    { metadata: {}, spec: { template: { metadata: { labels: { a: "b" } } } } },
  ],
  ["without a spec is left alone", "apps/v1beta1", { spec: "x" }, { spec: "x" }],
])("a deployment %s", (_, apiVersion, given, expected) => {
  defaultOlderDeployment(given, apiVersion)
  expect(given).toEqual(expected)
})

const annotation = "deprecated.deployment.rollback.to"

test.each<[string, JsonObject, JsonObject]>([
  ["the revision to roll back to is an annotation", { revision: 3 }, { x: "y", [annotation]: "3" }],
  ["the last revision has no number", {}, { x: "y", [annotation]: "0" }],
])("in the served version, %s", (_, rollbackTo, annotations) => {
  const given: JsonObject = { metadata: { annotations: { x: "y" } }, spec: { rollbackTo } }
  defaultOlderDeployment(given, "apps/v1beta1")
  expect(given).toMatchObject({ metadata: { annotations } })
  expect(given["spec"]).not.toHaveProperty("rollbackTo")
})

test("nothing is rolled back by the annotation alone", () => {
  const given: JsonObject = { metadata: { annotations: { x: "y", [annotation]: "3" } }, spec: {} }
  defaultOlderDeployment(given, "extensions/v1beta1")
  expect(given["metadata"]).toEqual({ annotations: { x: "y" } })
})

test.each([
  ["apps/v1beta1", "OnDelete"],
  ["apps/v1beta2", null],
])("a stateful set of %s is updated %s", (apiVersion, type) => {
  const given: JsonObject = { spec: { updateStrategy: { type: null } } }
  defaultOlderStatefulSet(given, apiVersion)
  expect(given).toEqual({ spec: { updateStrategy: { type } } })
})

const labels = { a: "b" }
const template = { metadata: { labels } }

test.each<[string, JsonObject, JsonObject]>([
  [
    "are those of an object without any, and select",
    { metadata: { labels: {} }, spec: { template, selector: null } },
    { metadata: { labels }, spec: { template, selector: { matchLabels: labels } } },
  ],
  [
    "do not replace others",
    { metadata: { labels: { c: "d" } }, spec: { template, selector: {} } },
    { metadata: { labels: { c: "d" } }, spec: { template, selector: {} } },
  ],
  [
    "that there are not do not select",
    { metadata: {}, spec: { template: { metadata: { labels: null } } } },
    { metadata: {}, spec: { template: { metadata: { labels: null } } } },
  ],
])("the labels of a template %s", (_, given, expected) => {
  defaultByTemplate(given, "extensions/v1beta1")
  expect(given).toEqual(expected)
})
